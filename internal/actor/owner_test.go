package actor

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func (w *world) addOwner(o Owner) Owner {
	w.Helper()
	added, err := AddOwner(w.Context(), w.db, o)
	if err != nil {
		w.Fatal(err)
	}
	return added
}

// Without auto-provision those become owners whom the operator added: by
// subject, or by the e-mail address for which the issuer vouches.
func TestAddOwner(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, LocalIssuer(w.db), RemoteIssuer(r.URL, "us", false))
		token := func(subject, email string, verified any) string {
			return mint(map[string]any{"sub": subject, "email": email, "email_verified": verified})
		}
		ann := w.addOwner(Owner{Email: "Ann@example.com", Issuer: r.URL, Subject: "ann-1"})
		if a := w.accepts("by subject", token("ann-1", "elsewhere@example.com", nil)); a.OwnerID != ann.ID {
			t.Errorf("%+v, added %+v", a, ann)
		}
		w.refuses("her address, another subject", token("ann-2", "ann@example.com", true), notAnOwner)

		// An invitation is valid only at its own issuer.
		w.addOwner(Owner{Email: "eve@example.com", Issuer: "https://other.example"})
		bob := Owner{Email: "bob@example.com", Issuer: r.URL}
		for range 2 { // again does no harm
			if added := w.addOwner(bob); !added.Invited() {
				t.Errorf("%+v", added)
			}
		}
		for name, bad := range map[string]string{
			"unverified": token("eve", "bob@example.com", false), "not told": token("eve", "bob@example.com", nil),
			"one":             token("eve", "bob@example.com", 1),
			"another text":    token("eve", "bob@example.com", "yes"),
			"another address": token("eve", "eve@example.com", true), "none": token("eve", "", true),
		} {
			w.refuses(name, bad, notAnOwner)
		}
		owners := make([]*Actor, 8)
		var all sync.WaitGroup
		for i := range owners {
			all.Go(func() { owners[i] = w.accepts("invited", token("bob-1", "Bob@Example.com", "true")) })
		}
		all.Wait()
		for _, a := range owners {
			if a.OwnerID != owners[0].OwnerID {
				t.Error("one invitation, two owners")
			}
		}
		w.accepts("without the address", token("bob-1", "", nil))
		w.refuses("another subject of the address", token("bob-2", "bob@example.com", true), notAnOwner)
		if n := w.count("SELECT COUNT(*) FROM invitation"); n != 1 {
			t.Errorf("%d invitations, want the one at the other issuer", n)
		}

		local := w.addOwner(Owner{Email: "Carol@example.com"})
		if a := w.accepts("local", w.issue("carol@example.com")); a.OwnerID != local.ID {
			t.Error("session issue made another owner")
		}
		for name, again := range map[string]Owner{
			"local": {Email: "carol@example.com"}, "subject": {Email: "x@example.com", Issuer: r.URL, Subject: "ann-1"},
			"invited before": bob,
			"no address":     {Email: "x"}, "subject too long": {Email: "x@example.com", Issuer: r.URL,
				Subject: strings.Repeat("s", 256)},
			"subject with a line end": {Email: "x@example.com", Issuer: r.URL, Subject: "a\nb"},
		} {
			if o, err := AddOwner(t.Context(), w.db, again); err == nil {
				t.Errorf("%s: %+v", name, o)
			}
		}
		w.addOwner(Owner{Email: "ann@example.com"}) // at the local issuer she is another owner
		// A subject of one issuer is nobody at another.
		w.addOwner(Owner{Email: "dan@example.com", Issuer: "https://other.example", Subject: "ann-1"})
	})
}

func TestOwners(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.addOwner(Owner{Email: "ann@example.com", Issuer: "https://a.example", Subject: "1"})
		w.addOwner(Owner{Email: "ann@example.com", Issuer: "https://b.example"})
		for _, c := range []struct {
			email string
			limit int
			want  string
		}{
			{"", 100, "ann@example.com invited, ann@example.com, owner@example.com"},
			{"", 2, "ann@example.com invited, ann@example.com"},
			{"", 1, "ann@example.com invited"}, {" ANN@example.com ", 100, "ann@example.com invited, ann@example.com"},
			{email, 1, email}, {"x", 1, ""},
		} {
			owners, err := Owners(t.Context(), w.db, c.email, c.limit)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range owners {
				if o.Invited() {
					o.Email += " invited"
				} else if !o.Active || o.ID == "" {
					t.Errorf("%+v", o)
				}
				got = append(got, o.Email)
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%q, at most %d: %q, want %q", c.email, c.limit, got, c.want)
			}
		}
	})
}

// An installation is somebody's from its first owner or invitation on, also while that owner is disabled.
func TestAnyOwner(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		any := func(want bool) {
			t.Helper()
			storetest.Faulty(t, func(ctx context.Context) error {
				some, err := AnyOwner(ctx, db)
				if err == nil && some != want {
					t.Errorf("there is somebody: %t, want %t", some, want)
				}
				return err
			})
		}
		add := func(o Owner) {
			t.Helper()
			if _, err := AddOwner(t.Context(), db, o); err != nil {
				t.Fatal(err)
			}
		}
		disable := func(which string) {
			t.Helper()
			if _, err := SetActive(t.Context(), db, which, false); err != nil {
				t.Fatal(err)
			}
		}
		any(false)
		add(Owner{Email: "ann@example.com", Issuer: "https://a.example"})
		any(true)
		disable("ann@example.com")
		any(false)
		add(Owner{Email: "bob@example.com"})
		any(true)
		disable("bob@example.com")
		any(true)
	})
}

// What a disabled owner holds is refused at the next call, and taken back when
// the owner is enabled.
func TestSetActive(t *testing.T) {
	eachWorld(t, func(w *world) {
		text, _, _ := NewKey(Staging)
		w.storeKey(text, []string{"app_1"}, []string{"links:read"}, w.now().Add(12*time.Hour), nil)
		set := func(which string, active bool) Owner {
			t.Helper()
			o, err := SetActive(t.Context(), w.db, which, active)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		other := w.issue("other@example.com")
		grants := []Grant{w.accepts("session", w.token).Grant(), w.accepts("key", text).Grant()}
		for _, which := range []string{w.owner, " OWNER@example.com "} {
			if o := set(which, false); o.ID != w.owner || o.Active {
				t.Errorf("%+v", o)
			}
			w.refuses("session", w.token, disabledOwner)
			w.refuses("key", text, disabledOwner)
			for _, g := range grants {
				a, err := w.rebuild(g)
				refused(t, "grant", a, err)
			}
			for _, issue := range []func() (string, error){
				func() (string, error) { return IssueSession(t.Context(), w.db, w.dir, email) },
				func() (string, error) { return IssueSessionFor(t.Context(), w.db, w.dir, w.owner) },
			} {
				if token, err := issue(); err == nil || token != "" || !strings.Contains(err.Error(), "disabled") {
					t.Errorf("a session for a disabled owner: %v", err)
				}
			}
			w.accepts("another owner", other)
			set(which, true)
			w.accepts("session", w.token)
			w.accepts("key", text)
		}
		w.addOwner(Owner{Email: "to-be@example.com", Issuer: "https://a.example"})
		w.addOwner(Owner{Email: "too@example.com", Issuer: "https://a.example"})
		if o := set("To-be@example.com", false); !o.Invited() || w.count("SELECT COUNT(*) FROM invitation") != 1 {
			t.Errorf("%+v", o)
		}
		w.addOwner(Owner{Email: email, Issuer: "https://a.example", Subject: "1"})
		for _, which := range []string{email, "to-be@example.com", "", "%"} {
			if o, err := SetActive(t.Context(), w.db, which, false); err == nil {
				t.Errorf("%q: %+v", which, o)
			}
		}
		w.accepts("one of several with the address", w.token)
	})
}

// A session on the command line is for any owner, beside the issuer of the
// others.
func TestIssueSessionFor(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		r.Close() // the issuer is away
		w.auth = NewAuthenticator(w.db, Staging, LocalIssuer(w.db), RemoteIssuer(r.URL, "us", false))
		ann := w.addOwner(Owner{Email: "ann@example.com", Issuer: r.URL, Subject: "ann"})
		token, err := IssueSessionFor(t.Context(), w.db, w.dir, ann.ID)
		if err != nil {
			t.Fatal(err)
		}
		if a := w.accepts("for an owner of an issuer that is away", token); a.OwnerID != ann.ID || a.Type != Human {
			t.Errorf("%+v", a)
		}
		if _, err := IssueSessionFor(t.Context(), w.db, w.dir, "nobody"); err == nil {
			t.Error("a session for an owner who does not exist")
		}
	})
}
