package process_test

import (
	"net/http"
	"strings"
	"testing"
)

// The operator lists and ends sessions, and adds and disables owners, beside a
// running server that notices at its next call.
func TestOwnersAndSessions(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		s := serve(t, t.TempDir(), database)
		run := func(want int, args ...string) (stdout, stderr string) {
			t.Helper()
			stdout, stderr, code := execute(t, append(args, "--data-dir", s.dir, "--database", database)...)
			if code != want || want == 1 && (stdout != "" || strings.Count(stderr, "\n") != 1) ||
				want == 0 && stderr != "" {
				t.Fatalf("%v: exit code %d, want %d; output %q, errors %q", args, code, want, stdout, stderr)
			}
			return stdout, stderr
		}
		status := func(token string) int {
			t.Helper()
			a, err := s.client(token).call(intent{method: "GET", path: "/me"})
			if err != nil {
				t.Fatal(err)
			}
			return a.status
		}
		first, second, third := s.token("ann@example.com"), s.token("ann@example.com"), s.token("bob@example.com")
		want := func(name string, codes ...int) {
			t.Helper()
			for i, token := range []string{first, second, third} {
				if got := status(token); got != codes[i] {
					t.Errorf("%s: session %d gets %d, want %d", name, i+1, got, codes[i])
				}
			}
		}
		const ok, no = http.StatusOK, http.StatusUnauthorized
		want("at first", ok, ok, ok)

		for _, wrong := range []string{first[:len(first)/2], "an@example.com", "x", ""} {
			stdout, stderr := run(1, "session", "revoke", "--session", wrong)
			if strings.Contains(stdout+stderr, first[:20]) {
				t.Errorf("the token is printed: %s", stderr)
			}
		}
		want("after typing errors", ok, ok, ok)
		listed, _ := run(0, "session", "list")
		if n := strings.Count(listed, "\n"); n != 4 || strings.Contains(listed, "eyJ") ||
			strings.Count(listed, "ann@example.com") != 2 {
			t.Errorf("%s", listed)
		}
		if ended, _ := run(0, "session", "revoke", "--session", first); !strings.Contains(ended, "ann@example.com") ||
			strings.Contains(ended, "eyJ") || strings.Count(ended, "\n") != 1 {
			t.Errorf("%s", ended)
		}
		want("one ended by its token", no, ok, ok)
		if listed, _ = run(0, "session", "list", "--email", "ann@example.com"); strings.Count(listed, "\n") != 2 {
			t.Errorf("%s", listed)
		}
		id := strings.Fields(strings.Split(listed, "\n")[1])[0]
		run(0, "session", "revoke", "--session", id)
		want("one ended by its id", no, no, ok)
		run(1, "session", "revoke", "--session", "ann@example.com")
		run(0, "session", "revoke", "--session", "bob@example.com")
		want("all ended", no, no, no)

		first, second, third = s.token("ann@example.com"), s.token("ann@example.com"), s.token("bob@example.com")
		run(1, "users", "disable", "carol@example.com")
		if told, _ := run(0, "users", "disable", "ann@example.com"); !strings.HasPrefix(told, "disabled owner ") ||
			!strings.Contains(told, "ann@example.com") {
			t.Errorf("%s", told)
		}
		want("disabled", no, no, ok)
		run(1, "session", "issue", "--email", "ann@example.com")
		if listed, _ := run(0, "users", "list"); strings.Count(listed, "disabled") != 1 ||
			strings.Count(listed, "active") != 1 {
			t.Errorf("%s", listed)
		}
		run(0, "users", "enable", "ann@example.com")
		want("enabled", ok, ok, ok)

		run(0, "users", "add", "--email", "carol@example.com", "--oidc-issuer", "https://id.example.com", "--subject",
			"c-1")
		run(1, "users", "add", "--email", "carol@example.com", "--oidc-issuer", "https://id.example.com", "--subject",
			"c-1")
		run(1, "users", "add", "--email", "carol@example.com", "--subject", "c-2")
		run(0, "users", "add", "--email", "dan@example.com", "--oidc-issuer", "https://id.example.com")
		if listed, _ := run(0, "users", "list", "--email", "dan@example.com"); !strings.Contains(listed, "invited") {
			t.Errorf("%s", listed)
		}
		listed, _ = run(0, "users", "list", "--email", "carol@example.com")
		carol := strings.Fields(strings.Split(listed, "\n")[1])[0]
		token, _ := run(0, "session", "issue", "--user", carol)
		if got := status(strings.TrimSpace(token)); got != ok {
			t.Errorf("a session for an owner of an issuer gets %d", got)
		}
		run(1, "session", "issue", "--user", "nobody")
		run(2, "session", "issue", "--user", carol, "--email", "carol@example.com")
		s.terminate()
	})
}
