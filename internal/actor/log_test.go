package actor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// with returns the lines of a journal that have all of the texts.
func with(log *apitest.Journal, texts ...string) (lines []string) {
	for line := range strings.Lines(log.String()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// The operator finds in the log why a call was refused with 401, by its request
// id and without its credential.
func TestRefusalIsLogged(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			log := &apitest.Journal{}
			i := apitest.New(t, engine, apitest.Options{Log: log, LimitScale: 1})
			owner := i.Prepared(t, "ann@example.com")
			key := owner.Key("identity:read")
			key.Call("GET", "/me", nil).Want(200)
			if _, err := actor.SetActive(t.Context(), i.DB, "ann@example.com", false); err != nil {
				t.Fatal(err)
			}
			for credential, want := range map[string]string{
				"": "No credential", key.Credential: "is disabled", owner.Credential: "is disabled",
				"svc_live_1": "mistyped",
				owner.Credential[:len(owner.Credential)-5] + "AAAAA": "verify signature",
			} {
				r := i.Client(t, credential).Call("GET", "/me", nil).Refused(fault.Unauthenticated)
				lines := with(log, "call refused", r.Text("error.requestId"))
				if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], "level=INFO") ||
					!strings.Contains(lines[0], "operation=getMe") {
					t.Errorf("%.20q is logged as %q, want %q", credential, lines, want)
				}
			}
			for _, secret := range []string{key.Credential[13:], owner.Credential, "203.0.113.7"} {
				if lines := with(log, secret); len(lines) > 0 {
					t.Errorf("the log has %q", lines)
				}
			}
			// The windows of an address bound what it has written into the log.
			for range 300 {
				i.Client(t, "svc_test_x").Call("GET", "/me", nil)
			}
			if n := len(with(log, "call refused")); n != 300 {
				t.Errorf("%d refusals are logged, want 300", n)
			}
		})
	}
}

// The operator finds in the log what a call that failed was doing, and on what,
// and nothing of its body, query or credential. The client finds none of that.
func TestInternalErrorIsLogged(t *testing.T) {
	log := &apitest.Journal{}
	apitest.EachWith(t, apitest.Options{Log: log}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		l := owner.Link("a", nil)
		id := l.Text("data.id")
		if _, err := i.DB.Exec(t.Context(), "ALTER TABLE link_history RENAME TO link_history_away"); err != nil {
			t.Fatal(err)
		}
		r := owner.Call("PATCH", "/links/"+apitest.Path(id), apitest.M{"desktopUrl": "https://example.com/hidden"},
			apitest.IfMatch(l.Revision())).
			Refused(fault.Internal)
		lines := with(log, "call failed", r.Text("error.requestId"))
		if len(lines) != 1 || !strings.Contains(lines[0], "updateLinksLinkId("+id+"): link.Update("+id+"): ") {
			t.Errorf("logged as %q", lines)
		}
		if text := string(r.Body); strings.Contains(text, "link.Update") || strings.Contains(text, "history") {
			t.Errorf("the client sees %s", text)
		}
		for _, hidden := range []string{"hidden", owner.Credential, "ann@example.com", "203.0.113.7"} {
			if lines := with(log, "call failed", hidden); len(lines) > 0 {
				t.Errorf("the log has %q", lines)
			}
		}
	})
}
