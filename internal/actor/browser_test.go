package actor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// signIn signs in a browser of the owner.
func (w *world) signIn(name string) (secret string) {
	w.Helper()
	if err := w.db.InTx(w.Context(), func(tx *store.Tx) (err error) {
		secret, err = SignIn(w.Context(), tx, w.owner, name)
		return err
	}); err != nil {
		w.Fatal(err)
	}
	return secret
}

func (w *world) browses(name, secret string) *Actor {
	w.Helper()
	a, err := w.auth.Browser(w.Context(), secret, true)
	if err != nil {
		w.Fatalf("%s: %v", name, err)
	}
	return a
}

func (w *world) browsesNot(name, secret string, causes ...cause) {
	w.Helper()
	a, err := w.auth.Browser(w.Context(), secret, true)
	refused(w, name, a, err, causes...)
}

func (w *world) flush() {
	w.Helper()
	if err := w.auth.FlushUsed(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func TestBrowserSession(t *testing.T) {
	eachWorld(t, func(w *world) {
		secret, other := w.signIn("Firefox on Linux"), w.signIn("")
		a := w.browses("signed in", secret)
		if a.Type != Human || a.OwnerID != w.owner || a.Windows != a.Credential || !a.May("links:create", true) ||
			a.ExpiresAt != w.now().Add(7*24*time.Hour) {
			t.Errorf("%+v", a)
		}
		if b := w.browses("another browser", other); b.Credential == a.Credential || b.OwnerID != w.owner {
			t.Errorf("%+v", b)
		}
		if n := w.count("SELECT COUNT(*) FROM session WHERE digest = ? AND name = 'Firefox on Linux'", Digest(secret)); n != 1 {
			t.Error("the session is not stored by its digest")
		}
		for name, wrong := range map[string]string{
			"none": "", "another": newSecret(), "shorter": secret[1:], "longer": secret + "A", "line end": secret + "\n",
			"digest": Digest(secret), "credential": a.Credential, "NUL": "\x00" + secret[1:],
		} {
			w.browsesNot(name, wrong, unknownBrowser)
		}
		w.refuses("as a token", secret)
		b, err := w.auth.Browser(t.Context(), secret, false)
		refused(t, "from another site", b, err, otherSite)
		err = w.db.InTx(t.Context(), func(tx *store.Tx) error {
			none, err := SignIn(t.Context(), tx, "nobody", "Firefox on Linux")
			if none != "" {
				t.Error("a secret for an owner who is gone")
			}
			return err
		})
		refused(t, "of an owner who is gone", nil, err, lostGrant)
	})
}

// A call under way of an owner who is gone meanwhile is refused, with a token and with a browser.
func TestOwnerGoneMeanwhile(t *testing.T) {
	eachWorld(t, func(w *world) {
		byToken, byBrowser := w.accepts("token", w.token), w.browses("browser", w.signIn("x"))
		w.exec("DELETE FROM session")
		w.exec("DELETE FROM users")
		w.stillRefused("token", byToken, lostGrant)
		w.stillRefused("browser", byBrowser, lostGrant)
	})
}

// A browser in use stays signed in for 7 days after each use, and 30 days in all.
func TestBrowserSessionSlides(t *testing.T) {
	eachWorld(t, func(w *world) {
		const day = 24 * time.Hour
		started := w.now()
		idle, used := w.signIn("idle"), w.signIn("used")
		w.clock.Set(started.Add(7*day - time.Millisecond))
		w.browses("idle for almost 7 days", idle)
		w.browses("used", used)
		w.flush()
		w.clock.Set(started.Add(14*day - 2*time.Millisecond))
		w.browses("used again", used)
		w.browses("idle, noted at its use", idle)
		w.flush()
		w.clock.Set(started.Add(21*day - 2*time.Millisecond))
		w.browsesNot("idle for 7 days", idle, expiredSession)
		w.browsesNot("used, idle for 7 days", used, expiredSession)

		w.clock.Set(started)
		long := w.signIn("long")
		for at := started; at < started.Add(28*day); at = at.Add(6 * day) {
			w.clock.Set(at)
			w.browses("used each 6 days", long)
			w.flush()
		}
		w.clock.Set(started.Add(30*day - time.Millisecond))
		w.browses("almost 30 days", long)
		w.flush()
		w.clock.Set(started.Add(30 * day))
		w.browsesNot("30 days", long, expiredSession)
	})
}

// A call reaches an app of its owner alone, though the owner has others.
func TestStillReaches(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.issue("other@example.com")
		for _, app := range []string{"one", "two"} {
			w.exec(`INSERT INTO app (id, owner_id, name, search, revision, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 0, 0)`,
				app, w.owner, app, app, app)
		}
		a := w.accepts("the owner", w.token)
		for app, want := range map[string]bool{"one": true, "two": true, "three": false, "": false} {
			err := w.db.InTx(t.Context(), func(tx *store.Tx) error {
				_, reaches, err := a.Still(t.Context(), tx, app)
				if reaches != want {
					t.Errorf("%q is reached: %t", app, reaches)
				}
				return err
			})
			if err != nil {
				t.Errorf("%q: %v", app, err)
			}
		}
	})
}

// A use that reaches the database at or after the end that is known there does not bring the
// session back.
func TestBrowserUseComesTooLate(t *testing.T) {
	eachWorld(t, func(w *world) {
		credential := w.browses("signed in", w.signIn("browser")).Credential
		end := w.sessions("")[0].ExpiresAt
		for _, late := range []time.Duration{0, -time.Microsecond} {
			at := end.Add(late)
			w.auth.note(credential, use{at: at, until: at.Add(time.Hour)})
			w.flush()
			want := end
			if late < 0 {
				want = at.Add(time.Hour)
			}
			if got := w.sessions("")[0].ExpiresAt; got != want {
				t.Errorf("used %v after the end: ends at %v, want %v", late, got, want)
			}
		}
	})
}

// A use is written down five minutes after the one that was noted before, and not sooner.
func TestBrowserUsesAreNotedNowAndThen(t *testing.T) {
	eachWorld(t, func(w *world) {
		secret, idle := w.signIn("x"), w.signIn("y")
		usedOf := func(secret string) clock.Instant {
			return clock.Instant(w.count("SELECT used_at FROM session WHERE digest = ?", Digest(secret)))
		}
		used := func() clock.Instant { return usedOf(secret) }
		w.clock.Move(5*time.Minute - time.Millisecond)
		w.browses("soon", secret)
		w.flush()
		if used() != storetest.Start {
			t.Errorf("noted %v after the start", used().Sub(storetest.Start))
		}
		w.clock.Move(time.Millisecond)
		w.browses("after five minutes", secret)
		if len(w.auth.used) != 1 || used() != storetest.Start {
			t.Errorf("%d uses are kept, that at %v is stored", len(w.auth.used), used())
		}
		w.flush()
		if used() != storetest.Start.Add(5*time.Minute) {
			t.Errorf("noted %v after the start", used().Sub(storetest.Start))
		}
		if usedOf(idle) != storetest.Start {
			t.Error("the use of one session is noted for another")
		}
		// A use that comes to be stored late revives nothing.
		w.clock.Move(10 * time.Minute)
		w.browses("before it ends", secret)
		w.clock.Move(time.Millisecond)
		if err := SignOut(t.Context(), w.db, Digest(secret)); err != nil {
			t.Fatal(err)
		}
		w.flush()
		w.browsesNot("signed out", secret, expiredSession)
		w.browses("before another process ends it", idle)
		w.ends(w.sessions("")[0].ID, 1)
		w.flush()
		if usedOf(idle) != storetest.Start {
			t.Error("the use of a session that was ended meanwhile is noted")
		}
	})
}

func TestSignOut(t *testing.T) {
	eachWorld(t, func(w *world) {
		secret, other := w.signIn("x"), w.signIn("y")
		a := w.browses("before", secret)
		for _, which := range []string{secret, secret, "", newSecret()} {
			if err := SignOut(t.Context(), w.db, Digest(which)); err != nil {
				t.Fatal(err)
			}
		}
		w.browsesNot("signed out", secret, expiredSession)
		w.browses("the other", other)
		w.stillRefused("a call under way", a, expiredSession)
		if _, err := w.rebuild(a.Grant()); err != nil {
			t.Errorf("what was started does not go on: %v", err)
		}
		w.endsNone(secret)
		w.clock.Move(24*time.Hour - time.Millisecond)
		w.sweepsSessions(0)
		w.clock.Move(time.Millisecond)
		w.sweepsSessions(1)
		// What is over already is not kept for longer.
		w.clock.Set(w.browses("the other", other).ExpiresAt)
		if err := SignOut(t.Context(), w.db, Digest(other)); err != nil {
			t.Fatal(err)
		}
		w.sweepsSessions(1)
	})
}

func (w *world) sweepsSessions(want int64) {
	w.Helper()
	w.exec("UPDATE session SET remove_at = 9000000000000000 WHERE digest IS NULL")
	if n, err := SweepSessions(w.Context(), w.db, 100); err != nil || n != want {
		w.Errorf("%d sessions were swept, want %d: %v", n, want, err)
	}
}

func (w *world) stillRefused(name string, a *Actor, why cause) {
	w.Helper()
	err := w.db.InTx(w.Context(), func(tx *store.Tx) error {
		_, _, err := a.Still(w.Context(), tx, "")
		return err
	})
	refused(w, name, nil, err, why)
}

// Ended sessions and those of disabled owners are refused at once, also where a call of
// theirs is under way.
func TestBrowserSessionEnds(t *testing.T) {
	eachWorld(t, func(w *world) {
		bySecret, byID, byEmail, byOwner := w.signIn("a"), w.signIn("b"), w.signIn("c"), w.signIn("d")
		ended := func(name, secret string, a *Actor) {
			t.Helper()
			w.browsesNot(name, secret, endedSession)
			w.stillRefused(name, a, endedSession)
			if _, err := w.rebuild(a.Grant()); err == nil {
				t.Errorf("%s: what was started goes on", name)
			}
		}
		id := func(a *Actor) string { return strings.TrimPrefix(a.Credential, sessionPrefix) }
		first, second, third, fourth := w.browses("a", bySecret), w.browses("b", byID), w.browses("c", byEmail), w.browses("d", byOwner)
		w.ends(bySecret, 1)
		ended("by its secret", bySecret, first)
		if all := w.ends(id(second), 1); !all[0].Browser || all[0].Name != "b" || *all[0].UsedAt != w.now() {
			t.Errorf("%+v", all)
		}
		ended("by its id", byID, second)
		for name, owner := range map[string]string{"nobody": "", "somebody else": "x"} {
			if err := EndSessionOf(t.Context(), w.db, owner, id(fourth)); err == nil {
				t.Errorf("ended by %s", name)
			}
		}
		if err := EndSessionOf(t.Context(), w.db, w.owner, id(fourth)); err != nil {
			t.Fatal(err)
		}
		ended("by its owner", byOwner, fourth)
		if err := SignOut(t.Context(), w.db, Digest(byOwner)); err != nil {
			t.Fatal(err)
		}
		before := w.now()
		w.clock.Set(before.Add(signedOutKept))
		if _, err := SweepSessions(t.Context(), w.db, 100); err != nil {
			t.Fatal(err)
		}
		ended("by its owner, and signed out", byOwner, fourth)
		w.clock.Set(before)
		if err := EndSessionOf(t.Context(), w.db, w.owner, id(fourth)); err == nil {
			t.Error("ended twice")
		}
		if all, err := SessionsOf(t.Context(), w.db, w.owner, 10); err != nil || len(all) != 2 {
			t.Errorf("%+v, %v", all, err)
		}
		if all, err := SessionsOf(t.Context(), w.db, "x", 10); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		if _, err := SetActive(t.Context(), w.db, email, false); err != nil {
			t.Fatal(err)
		}
		w.browsesNot("disabled", byEmail, disabledOwner)
		w.stillRefused("disabled", third, disabledOwner)
		if _, err := SetActive(t.Context(), w.db, email, true); err != nil {
			t.Fatal(err)
		}
		w.browses("enabled", byEmail)
		w.ends(email, 2)
		ended("by e-mail", byEmail, third)
	})
}

// An owner has 1,000 sessions at most, those of browsers and of tokens together.
func TestBrowserSessionsAreBounded(t *testing.T) {
	eachWorld(t, func(w *world) {
		for range 999 {
			w.exec("INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at) VALUES (?, ?, 1, ?, ?)",
				sessionPrefix+newSecret(), w.owner, w.now().Add(time.Hour), w.now().Add(time.Hour))
		}
		err := w.db.InTx(t.Context(), func(tx *store.Tx) error {
			_, err := SignIn(t.Context(), tx, w.owner, "x")
			return err
		})
		refused(t, "one too many", nil, err, tooManySessions)
		w.clock.Move(time.Hour)
		w.signIn("x")
	})
}

func (w *world) link() string {
	w.Helper()
	code, err := IssueLink(w.Context(), w.db, email)
	if err != nil {
		w.Fatal(err)
	}
	return code
}

func (w *world) uses(code string) (*Actor, error) {
	w.Helper()
	secret, err := UseLink(w.Context(), w.db, code, "Firefox on Linux")
	if err != nil {
		return nil, err
	}
	return w.auth.Browser(w.Context(), secret, true)
}

// An address signs in once, for ten minutes, and only its owner.
func TestLinks(t *testing.T) {
	eachWorld(t, func(w *world) {
		code, late, sooner := w.link(), w.link(), w.link()
		if a, err := w.uses(code); err != nil || a.OwnerID != w.owner {
			t.Fatalf("%+v, %v", a, err)
		}
		for name, wrong := range map[string]string{"used": code, "none": "", "another": newSecret(), "digest": Digest(late)} {
			a, err := w.uses(wrong)
			refused(t, name, a, err, unknownLink)
		}
		// What cannot be a code is refused without a question to the database.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := UseLink(gone, w.db, "x", "Firefox on Linux")
		refused(t, "no code", nil, err, unknownLink)
		w.clock.Move(10*time.Minute - time.Millisecond)
		if _, err := w.uses(sooner); err != nil {
			t.Errorf("within ten minutes: %v", err)
		}
		w.link() // the sweep below leaves it
		w.clock.Move(time.Millisecond)
		a, err := w.uses(late)
		refused(t, "after ten minutes", a, err, unknownLink)
		if n, err := SweepLinks(t.Context(), w.db, 10); err != nil || n != 1 {
			t.Errorf("%d were swept, %v", n, err)
		}

		if w.count("SELECT COUNT(*) FROM users") != 1 {
			t.Fatal("there are more owners")
		}
		// At another issuer the address may be somebody's subject. That is another owner.
		w.addOwner(Owner{Email: "elsewhere@example.com", Issuer: "https://issuer.example", Subject: "new@example.com"})
		fresh, err := IssueLink(t.Context(), w.db, " New@Example.com")
		if err != nil || w.count("SELECT COUNT(*) FROM users") != 2 {
			t.Fatalf("an owner is made before the address is used: %v", err)
		}
		if a, err = w.uses(fresh); err != nil || a.OwnerID != w.userID(LocalIssuerURL, "new@example.com") {
			t.Errorf("a new owner: %+v, %v", a, err)
		}
		byID, err := IssueLinkFor(t.Context(), w.db, w.owner)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = w.uses(byID); err != nil || a.OwnerID != w.owner {
			t.Errorf("%+v, %v", a, err)
		}
		unused := w.link()
		if _, err := SetActive(t.Context(), w.db, email, false); err != nil {
			t.Fatal(err)
		}
		a, err = w.uses(unused)
		refused(t, "of a disabled owner", a, err, disabledOwner)
		for name, issue := range map[string]func() (string, error){
			"disabled":       func() (string, error) { return IssueLink(t.Context(), w.db, email) },
			"disabled, id":   func() (string, error) { return IssueLinkFor(t.Context(), w.db, w.owner) },
			"no address":     func() (string, error) { return IssueLink(t.Context(), w.db, "x") },
			"no such person": func() (string, error) { return IssueLinkFor(t.Context(), w.db, "x") },
		} {
			if code, err := issue(); err == nil {
				t.Errorf("%s: %q", name, code)
			} else if refusal, ok := fault.From(err); ok {
				t.Errorf("%s is a refusal of a call: %v", name, refusal)
			}
		}
	})
}
