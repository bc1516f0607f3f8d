package process_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var signInAddress = regexp.MustCompile(`(http://localhost:\d+)/dashboard/#/signin\?code=([\w-]{43})\n`)

// enter signs a browser in by the code of an address, and returns its cookie.
func (s *server) enter(t *testing.T, code string) (status int, cookie *http.Cookie) {
	t.Helper()
	response := s.ofPage(t, "POST", "/auth/link", `{"code":"`+code+`"}`, nil)
	if found := response.Cookies(); len(found) == 1 {
		cookie = found[0]
	}
	return response.StatusCode, cookie
}

// ofPage sends a request as a page of the dashboard does.
func (s *server) ofPage(t *testing.T, method, path, body string, cookie *http.Cookie) *http.Response {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+s.api+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	if cookie != nil {
		request.AddCookie(cookie)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response
}

// The first start prints an address that signs in, as long as nobody is an owner. The command
// line makes others, and lists and ends what browsers make of them.
func TestBrowsersOfTheCommandLine(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		s := serve(t, t.TempDir(), database)
		printed := func(s *server) (code string) {
			t.Helper()
			s.eventually("the address that signs in", func() error {
				found := signInAddress.FindStringSubmatch(s.stdout.String())
				if found == nil || !strings.HasSuffix(s.api, strings.TrimPrefix(found[1], "http://localhost")) {
					return fmt.Errorf("output %q", s.stdout.String())
				}
				code = found[2]
				return nil
			})
			return code
		}
		printed(s)
		s.terminate()
		s = serve(t, s.dir, database) // nobody has used it
		status, first := s.enter(t, printed(s))
		if status != http.StatusNoContent || first == nil {
			t.Fatalf("%d %v", status, first)
		}
		run := func(want int, args ...string) string {
			t.Helper()
			stdout, stderr, code := execute(t, append(args, "--data-dir", s.dir, "--database", database)...)
			if code != want || want == 1 && stdout != "" {
				t.Fatalf("%v: exit code %d, want %d; output %q, errors %q", args, code, want, stdout, stderr)
			}
			return stdout + stderr
		}
		me := func(cookie *http.Cookie) int { return s.ofPage(t, "GET", "/v1/me", "", cookie).StatusCode }
		issued := run(0, "session", "issue", "--link", "--email", "ann@example.com")
		address := regexp.MustCompile(`^http://localhost:8080/dashboard/#/signin\?code=([\w-]{43})\n$`).FindStringSubmatch(issued)
		if address == nil {
			t.Fatalf("printed %q", issued)
		}
		if named := run(0, "session", "issue", "--link", "--email", "ann@example.com", "--api-url", "https://api.example.com/"); !strings.
			HasPrefix(named, "https://api.example.com/dashboard/#/signin?code=") {
			t.Errorf("printed %q", named)
		}
		if status, _ = s.enter(t, strings.Repeat("A", 43)); status != http.StatusUnauthorized {
			t.Errorf("another code: %d", status)
		}
		status, ann := s.enter(t, address[1])
		if again, _ := s.enter(t, address[1]); status != http.StatusNoContent || again != http.StatusUnauthorized {
			t.Errorf("used once: %d, twice: %d", status, again)
		}
		if me(first) != http.StatusOK || me(ann) != http.StatusOK {
			t.Error("the browsers are not signed in")
		}
		listed := run(0, "session", "list")
		if strings.Count(listed, "Firefox on Linux") != 2 || strings.Contains(listed, ann.Value) {
			t.Errorf("%s", listed)
		}
		if told := run(1, "session", "revoke", "--session", ann.Value[1:]); !strings.Contains(told, "no session here") {
			t.Errorf("%s", told)
		}
		if told := run(0, "session", "revoke", "--session", ann.Value); !strings.Contains(told, "ann@example.com") {
			t.Errorf("%s", told)
		}
		if told := run(1, "session", "revoke", "--session", "ann@example.com"); !strings.Contains(told, "nothing is left to end") {
			t.Errorf("%s", told)
		}
		if me(ann) != http.StatusUnauthorized || me(first) != http.StatusOK {
			t.Error("an ended session, or another one")
		}
		run(0, "users", "disable", "owner@localhost")
		if me(first) != http.StatusUnauthorized {
			t.Error("the owner is disabled")
		}
		run(1, "session", "issue", "--link", "--email", "owner@localhost")
		s.terminate()
		s = serve(t, s.dir, database)
		s.terminate()
		if out := s.stdout.String(); out != "" {
			t.Errorf("a later start prints %q", out)
		}
	})
}
