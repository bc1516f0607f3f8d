package actor

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func TestBearer(t *testing.T) {
	for _, c := range []struct {
		authorization, token string
	}{
		{"Bearer abc", "abc"}, {"bearer abc", "abc"}, {"BEARER abc", "abc"}, {"Bearer   abc", "abc"},
		{"Bearer a.b-c_d~e+f/g==", "a.b-c_d~e+f/g=="}, {"Bearer " + strings.Repeat("a", 16<<10),
			strings.Repeat("a", 16<<10)},
		{"", ""}, {"Bearer", ""}, {"Bearer ", ""}, {"Bearer    ", ""}, {"Bearerabc", ""}, {"abc", ""},
		{" Bearer abc", ""},
		{"Basic YTpi", ""}, {"Bearer abc def", ""}, {"Bearer abc ", ""}, {"Bearer\tabc", ""}, {"Bearer \tabc", ""},
		{"Bearer abc,def", ""}, {"Bearer \"abc\"", ""}, {`Bearer {"payload":""}`, ""}, {"Bearer a\x00b", ""},
		{"Bearer ab\n", ""},
		{"Bearer ä", ""}, {"Bearer ab=c", ""}, {"Bearer ==", ""}, {"Bearer " + strings.Repeat("a", maxToken+1), ""},
	} {
		token, ok := bearer(c.authorization)
		if !ok {
			token = ""
		}
		if token != c.token || ok != (c.token != "") {
			t.Errorf("%.40q: %.40q, %v", c.authorization, token, ok)
		}
	}
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~+/"
	for r := rune(0); r < 0x100; r++ {
		if _, ok := bearer("Bearer a" + string(r) + "a"); ok != strings.ContainsRune(alphabet, r) {
			t.Errorf("a token with %q is one: %t", r, ok)
		}
	}
}

// Who is refused reads why, as far as that tells nothing to a stranger.
func TestCauses(t *testing.T) {
	eachWorld(t, func(w *world) {
		_, stranger, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		unknown, _, _ := NewKey(Staging)
		other, _, _ := NewKey(Production)
		for authorization, want := range map[string]cause{
			"": noCredential, "Basic YTpi": malformedHeader, "Bearer": malformedHeader, "Bearer a b": malformedHeader,
			"Bearer " + unknown: unknownKey, "Bearer " + unknown[:len(unknown)-1]: mistypedKey,
			"Bearer " + other:                otherEnvironment,
			"Bearer " + other[:len(other)-1]: mistypedKey, "Bearer svc_": mistypedKey, "Bearer abc": invalidToken,
			"Bearer a.b.c": invalidToken,
			"Bearer " + w.mint(map[string]any{"iss": "https://issuer.example"}):          otherIssuer,
			"Bearer " + w.mint(map[string]any{"iss": nil}):                               otherIssuer,
			"Bearer " + w.mint(map[string]any{"aud": "another"}):                         otherAudience,
			"Bearer " + w.mint(map[string]any{"typ": "Bearer"}):                          otherToken,
			"Bearer " + w.mint(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}): expiredSession,
			"Bearer " + w.mint(map[string]any{"sub": ids.New()}):                         notAnOwner,
			// Nothing that a stranger signed is told apart.
			"Bearer " + sign(t, jose.EdDSA, stranger, w.keyID,
				w.claims(nil)): invalidToken,
			"Bearer " + sign(t, jose.EdDSA, stranger, w.keyID,
				w.claims(map[string]any{"sub": ids.New()})): invalidToken,
			"Bearer " + sign(t, jose.EdDSA, stranger, w.keyID,
				w.claims(map[string]any{"aud": "another"})): invalidToken,
			"Bearer " + sign(t, jose.EdDSA, stranger, w.keyID, w.claims(map[string]any{"exp": 1})): invalidToken,
			"Bearer " + w.mint(map[string]any{"iss": strings.Repeat("x", 10_000)}):                 otherIssuer,
		} {
			a, err := w.auth.Authenticate(t.Context(), authorization)
			refused(t, fmt.Sprintf("%.60q", authorization), a, err, want)
			// What the log is told has a bound and holds no credential.
			if text := err.Error(); len(text) > 600 || len(authorization) > 20 &&
				strings.Contains(text, authorization[len("Bearer "):]) {
				t.Errorf("the log is told %q", text)
			}
		}
		a, err := NewAuthenticator(w.db, Production).Authenticate(t.Context(), "Bearer "+unknown)
		refused(t, "a key of staging in production", a, err, otherEnvironment)
	})
}

func TestKeys(t *testing.T) {
	eachWorld(t, func(w *world) {
		text, _, _ := NewKey(Staging)
		expires := w.now().Add(time.Hour)
		id := w.storeKey(text, []string{"app_1", "app_2"}, []string{"links:read", "links:create"}, expires, nil)
		a := w.accepts("in force", text)
		if a.Type != APIKey || a.OwnerID != w.owner || a.Credential != keyCredential+id || a.PrincipalID() != id ||
			!slices.Equal(a.AppIDs, []string{"app_1", "app_2"}) ||
			!slices.Equal(a.Permissions, []string{"links:read", "links:create"}) {
			t.Errorf("%+v", a)
		}
		for permission, may := range map[string]bool{"links:read": true, "links:create": true, "links": false,
			"links:rea": false, "links:delete": false, "": false} {
			if a.May(permission, false) != may || a.May(permission, true) {
				t.Errorf("%q: %v, human only: %v", permission, a.May(permission, false), a.May(permission, true))
			}
		}
		if !a.Holds("app_1") || a.Holds("app_3") || a.Holds("") {
			t.Error("the apps of a key")
		}
		unknown, _, _ := NewKey(Staging)
		production, _, _ := NewKey(Production)
		w.storeKey(production, []string{"app_1"}, []string{"links:read"}, expires, nil)
		now, later, past := w.now(), w.now().Add(time.Minute), w.now().Add(-time.Microsecond)
		state := func(expires clock.Instant, revoked *clock.Instant) string {
			text, _, _ := NewKey(Staging)
			w.storeKey(text, []string{"app_1"}, []string{"links:read"}, expires, revoked)
			return text
		}
		for name, c := range map[string]struct {
			text string
			why  cause
		}{
			"unknown": {unknown, unknownKey}, "of the other environment": {production, otherEnvironment},
			"digest instead of the key": {Digest(text), invalidToken}, "prefix alone": {text[:shownChars], mistypedKey},
			"expired": {state(past, nil), expiredKey}, "expires now": {state(now, nil), expiredKey},
			"revoked": {state(expires, &past), revokedKey}, "revoked now": {state(expires, &now), revokedKey},
			"revoked and expired": {state(past, &past), revokedKey}, "lower case": {strings.ToLower(text), mistypedKey},
			"twice": {text + text, mistypedKey},
		} {
			w.refuses(name, c.text, c.why)
		}
		rotated := state(expires, &later)
		w.accepts("revoked from a later moment on", rotated)
		w.clock.Move(time.Minute)
		w.refuses("revoked at that moment", rotated, revokedKey)
		w.accepts("the other, a minute later", text)
		w.exec("UPDATE users SET active = FALSE WHERE id = ?", w.owner)
		w.refuses("owner not active", text, disabledOwner)
		w.exec("UPDATE users SET active = TRUE WHERE id = ?", w.owner)
		w.clock.Set(expires)
		w.refuses("at its expiry", text)
		w.clock.Set(storetest.Start)
		w.exec("UPDATE api_key SET app_ids = '[]', permissions = '[]' WHERE id = ?", id)
		if a := w.accepts("reduced to nothing", text); a.May("links:read", false) || a.Holds("app_1") {
			t.Errorf("%+v", a)
		}
	})
}

func TestReaches(t *testing.T) {
	eachWorld(t, func(w *world) {
		stranger := w.accepts("stranger", w.issue("stranger@example.com")).OwnerID
		app := func(owner string) string {
			id := ids.App()
			w.exec(`INSERT INTO app (id, owner_id, name, search, revision, created_at, updated_at)
				VALUES (?, ?, 'app', '', ?, 0, 0)`, id, owner, ids.Revision())
			return id
		}
		own, other, foreign := app(w.owner), app(w.owner), app(stranger)
		human := &Actor{Type: Human, OwnerID: w.owner}
		key := &Actor{Type: APIKey, OwnerID: w.owner, AppIDs: []string{own, foreign, "app_gone"}}
		for _, c := range []struct {
			name  string
			actor *Actor
			app   string
			want  bool
		}{
			{"human, own", human, own, true}, {"human, other own", human, other, true},
			{"human, foreign", human, foreign, false},
			{"human, unknown", human, "app_gone", false}, {"human, none", human, "", false},
			{"key, own", key, own, true}, {"key, own, not held", key, other, false},
			{"key, held, foreign", key, foreign, false},
			{"key, held, deleted", key, "app_gone", false},
		} {
			if got, err := c.actor.Reaches(t.Context(), w.db, c.app); got != c.want || err != nil {
				t.Errorf("%s: %v, %v", c.name, got, err)
			}
		}
		if !human.May("anything", true) {
			t.Error("a human may not what needs a human")
		}
	})
}

func TestRebuild(t *testing.T) {
	eachWorld(t, func(w *world) {
		text, _, _ := NewKey(Staging)
		id := w.storeKey(text, []string{"app_1", "app_2"}, []string{"links:read", "links:create"}, w.now().
			Add(time.Hour), nil)
		key := w.accepts("key", text).Grant()
		session := w.accepts("session", w.mint(map[string]any{"sid": "one", "exp": time.Now().Add(time.Hour).Unix()})).
			Grant()
		other := w.accepts("other session", w.mint(map[string]any{"sid": "two"})).Grant()
		holds := func(name string, g Grant) *Actor {
			t.Helper()
			a, err := w.rebuild(g)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if a.Grant() != g {
				t.Errorf("%s: %+v became %+v", name, g, a.Grant())
			}
			return a
		}
		lost := func(name string, g Grant) {
			t.Helper()
			a, err := w.rebuild(g)
			refused(t, name, a, err)
		}
		if a := holds("key", key); a.Type != APIKey || !a.May("links:create", false) || !a.Holds("app_2") {
			t.Errorf("key: %+v", a)
		}
		if a := holds("session", session); a.Type != Human || a.OwnerID != w.owner {
			t.Errorf("session: %+v", a)
		}
		w.exec(`UPDATE api_key SET permissions = '["links:read"]', app_ids = '["app_1"]' WHERE id = ?`, id)
		if a := holds("key, reduced", key); a.May("links:create", false) || !a.May("links:read", false) ||
			a.Holds("app_2") || !a.Holds("app_1") {
			t.Errorf("a reduced key may what it may not: %+v", a)
		}
		revoke := func(at any) { w.exec("UPDATE api_key SET revoked_at = ? WHERE id = ?", at, id) }
		revoke(w.now().Add(time.Minute))
		holds("key, revoked from a later moment on", key)
		revoke(w.now())
		lost("key, revoked", key)
		revoke(nil)
		holds("key, not revoked", key)
		w.clock.Move(time.Hour)
		lost("key, expired", key)
		holds("session, whose token may have expired", session)
		w.ends("one", 1)
		lost("session, revoked", session)
		holds("another session", other)
		w.exec("UPDATE users SET active = FALSE WHERE id = ?", w.owner)
		lost("session, owner not active", other)
		w.clock.Set(storetest.Start)
		lost("key, owner not active", key)
		w.exec("UPDATE users SET active = TRUE WHERE id = ?", w.owner)
		w.exec("DELETE FROM api_key WHERE id = ?", id)
		lost("key, deleted", key)
		for name, g := range map[string]Grant{
			"nothing": {}, "no credential": {OwnerID: w.owner},
			"unknown form":  {OwnerID: w.owner, Credential: "root:1"},
			"unknown key":   {OwnerID: w.owner, Credential: keyCredential + ids.New()},
			"unknown owner": {OwnerID: ids.New(), Credential: other.Credential},
		} {
			lost(name, g)
		}
	})
}

func (w *world) lastUsed(id string) clock.Instant {
	w.Helper()
	at, err := store.One(w.Context(), w.db, store.Value[int64], `SELECT COALESCE(last_used_at, 0) FROM api_key
		WHERE id = ?`, id)
	if err != nil {
		w.Fatal(err)
	}
	return clock.Instant(at)
}

func TestFlushUsed(t *testing.T) {
	eachWorld(t, func(w *world) {
		flush := func() {
			t.Helper()
			if err := w.auth.FlushUsed(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var texts, keys []string
		for range 3 {
			text, _, _ := NewKey(Staging)
			texts, keys = append(texts, text), append(keys, w.storeKey(text, []string{"app_1"}, []string{"links:read"},
				w.now().Add(time.Hour), nil))
		}
		flush()
		w.accepts("key", texts[0])
		if at := w.lastUsed(keys[0]); at != 0 {
			t.Errorf("a use was stored at once: %v", at)
		}
		w.clock.Move(time.Second)
		w.accepts("key, again", texts[0])
		flush()
		first := storetest.Start.Add(time.Second)
		if at := w.lastUsed(keys[0]); at != first {
			t.Errorf("last used %v, want %v", at, first)
		}
		if w.lastUsed(keys[1]) != 0 {
			t.Error("a key that was not used")
		}
		// Another process knows a later use; a refused key is not in use.
		w.exec("UPDATE api_key SET last_used_at = ? WHERE id = ?", first.Add(time.Minute), keys[0])
		w.accepts("key", texts[0])
		w.exec("UPDATE api_key SET revoked_at = 1 WHERE id = ?", keys[1])
		w.refuses("revoked", texts[1])
		flush()
		if at := w.lastUsed(keys[0]); at != first.Add(time.Minute) {
			t.Errorf("an earlier use replaced a later one: %v", at)
		}
		if w.lastUsed(keys[1]) != 0 {
			t.Error("a refused key was used")
		}
		// What cannot be stored now is stored later.
		w.accepts("key", texts[2])
		w.exec("ALTER TABLE api_key RENAME TO api_key_away")
		if err := w.auth.FlushUsed(t.Context()); err == nil {
			t.Fatal("stored in a table that is away")
		}
		w.exec("ALTER TABLE api_key_away RENAME TO api_key")
		// Run stores the last uses when it ends.
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		w.auth.Run(ended, slog.New(slog.DiscardHandler))
		if at := w.lastUsed(keys[2]); at != first {
			t.Errorf("after a failure: %v, want %v", at, first)
		}
	})
}

// FuzzAuthorization: whatever the header says, there is one refusal, no
// failure, and nobody is let in but who holds the one credential.
func FuzzAuthorization(f *testing.F) {
	c := &clock.Clock{}
	db := storetest.Open(f, storetest.Address(f, "sqlite"), c)
	auth := NewAuthenticator(db, Staging, LocalIssuer(db))
	token, err := IssueSession(context.Background(), db, f.TempDir(), email)
	if err != nil {
		f.Fatal(err)
	}
	known, err := auth.Authenticate(context.Background(), "Bearer "+token)
	if err != nil {
		f.Fatal(err)
	}
	staging, _, _ := NewKey(Staging)
	production, _, _ := NewKey(Production)
	for _, seed := range []string{
		"", "Bearer", "Bearer ", "Bearer " + token, "bearer  " + token, "Bearer " + staging, "Bearer " + production,
		"Basic YTpi",
		"Bearer svc_test_", "Bearer svc_test_" + strings.Repeat("0", 38), "Bearer ..", "Bearer a.b.c",
		"Bearer {\"payload\":\"\",\"signatures\":[]}",
		"Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer " + token[:len(token)-1], "Bearer \x00", "Bearer \xff\xfe",
		"Bearer =",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, authorization string) {
		given, ok := bearer(authorization)
		if ok && (given == "" || len(given) > 16<<10 || !strings.HasSuffix(authorization, given) ||
			strings.ContainsAny(given, " \t\r\n\x00{\"")) {
			t.Fatalf("%q: the token %q", authorization, given)
		}
		for _, environment := range []Environment{Production, Staging} {
			if environment.wellFormed(given) && (len(given) != 47 ||
				!strings.HasPrefix(given, environment.keyPrefix())) {
				t.Fatalf("%q is no key of %s", given, environment)
			}
		}
		a, err := auth.Authenticate(context.Background(), authorization)
		if err == nil {
			// The last character of a signature has bits that mean nothing, so
			// one token has several texts; the session is one.
			if !reflect.DeepEqual(a, known) {
				t.Fatalf("%q lets %+v in", authorization, a)
			}
			return
		}
		if refusal, isFault := fault.From(err); a != nil || !isFault || refusal.Code != fault.Unauthenticated {
			t.Fatalf("%q: %+v, %v", authorization, a, err)
		}
	})
}

// The log says whose credential was refused, and the caller does not learn it.
func TestReasonsForTheLog(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", false))
		ann := w.addOwner(Owner{Email: "ann@example.com", Issuer: r.URL, Subject: "ann"})
		bob := w.addOwner(Owner{Email: "bob@example.com", Issuer: r.URL, Subject: "bob"})
		w.accepts("ann's session", mint(map[string]any{"sub": "ann", "sid": "s"}))
		revoked := w.now()
		key, _, _ := NewKey(Staging)
		id := w.storeKey(key, []string{"app"}, []string{"links:read"}, w.now().Add(time.Hour), &revoked)
		for token, want := range map[string]string{
			key:                                "key " + id + " of owner " + w.owner,
			mint(map[string]any{"sub": "eve"}): `issuer "` + r.URL + `", subject "eve"`,
			mint(map[string]any{"sub": "bob", "sid": "s"}): "its session is one of owner " + ann.ID + ", its subject is owner " +
				bob.ID,
		} {
			_, err := w.authenticate(token)
			refusal, ok := fault.From(err)
			if !ok || !strings.Contains(err.Error(), "("+want+")") || strings.Contains(refusal.Message, want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		// It is cut after 300 bytes.
		long := unknownKey.because("%s", strings.Repeat("a", 301)).Error()
		if !strings.HasSuffix(long, "("+strings.Repeat("a", 300)+")") {
			t.Errorf("a long reason is %s", long)
		}
	})
}
