package actor_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// journal collects a log.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// with returns the lines that have all of the texts.
func (j *journal) with(texts ...string) (lines []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
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
			log := &journal{}
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
				lines := log.with("call refused", r.Text("error.requestId"))
				if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], "level=INFO") ||
					!strings.Contains(lines[0], "operation=getMe") {
					t.Errorf("%.20q is logged as %q, want %q", credential, lines, want)
				}
			}
			for _, secret := range []string{key.Credential[13:], owner.Credential, "203.0.113.7"} {
				if lines := log.with(secret); len(lines) > 0 {
					t.Errorf("the log has %q", lines)
				}
			}
			// The windows of an address bound what it has written into the log.
			for range 300 {
				i.Client(t, "svc_test_x").Call("GET", "/me", nil)
			}
			if n := len(log.with("call refused")); n != 300 {
				t.Errorf("%d refusals are logged, want 300", n)
			}
		})
	}
}

// The operator finds in the log what a call that failed was doing, and on what,
// and nothing of its body, query or credential. The client finds none of that.
func TestInternalErrorIsLogged(t *testing.T) {
	log := &journal{}
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
		lines := log.with("call failed", r.Text("error.requestId"))
		if len(lines) != 1 || !strings.Contains(lines[0], "updateLinksLinkId("+id+"): link.Update("+id+"): ") {
			t.Errorf("logged as %q", lines)
		}
		if text := string(r.Body); strings.Contains(text, "link.Update") || strings.Contains(text, "history") {
			t.Errorf("the client sees %s", text)
		}
		for _, hidden := range []string{"hidden", owner.Credential, "ann@example.com", "203.0.113.7"} {
			if lines := log.with("call failed", hidden); len(lines) > 0 {
				t.Errorf("the log has %q", lines)
			}
		}
	})
}
