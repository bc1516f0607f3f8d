package actor

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// world is an installation with one owner and its local issuer.
type world struct {
	*testing.T
	db    *store.DB
	clock *clock.Clock
	auth  *Authenticator
	dir   string
	// token is a session of the owner, key what signed it under keyID.
	token, owner string
	key          ed25519.PrivateKey
	keyID        string
}

const email = "owner@example.com"

// eachWorld runs f on both engines.
func eachWorld(t *testing.T, f func(w *world)) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w := &world{T: t, db: db, clock: c, auth: NewAuthenticator(db, Staging, LocalIssuer(db)), dir: t.TempDir()}
		w.token = w.issue(email)
		w.key, w.keyID = w.readKey(w.dir)
		w.owner = w.userID(LocalIssuerURL, email)
		f(w)
	})
}

func (w *world) issue(email string) string {
	w.Helper()
	token, err := IssueSession(w.Context(), w.db, w.dir, email)
	if err != nil {
		w.Fatal(err)
	}
	return token
}

func (w *world) readKey(dir string) (ed25519.PrivateKey, string) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "session-key.json"))
	if err != nil {
		w.Fatal(err)
	}
	var key jose.JSONWebKey
	if err := json.Unmarshal(text, &key); err != nil {
		w.Fatal(err)
	}
	return key.Key.(ed25519.PrivateKey), key.KeyID
}

func (w *world) userID(issuer, subject string) string {
	w.Helper()
	id, err := store.One(w.Context(), w.db, store.Value[string],
		"SELECT id FROM users WHERE issuer = ? AND subject = ?", issuer, subject)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func (w *world) count(query string, args ...any) int64 {
	w.Helper()
	n, err := store.One(w.Context(), w.db, store.Value[int64], query, args...)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) exec(query string, args ...any) {
	w.Helper()
	if _, err := w.db.Exec(w.Context(), query, args...); err != nil {
		w.Fatal(err)
	}
}

// claims are those of a good session, with changes; a nil value removes one.
func claims(changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": LocalIssuerURL, "aud": LocalAudience, "sub": email, "sid": ids.New(),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if value == nil {
			delete(all, name)
		} else {
			all[name] = value
		}
	}
	return all
}

// sign makes a token. kid "" leaves the key unnamed.
func sign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, kid string, claims map[string]any) string {
	t.Helper()
	options := &jose.SignerOptions{}
	if kid != "" {
		options.WithHeader("kid", kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options.WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// claims are those of a good session of the owner, with changes.
func (w *world) claims(changes map[string]any) map[string]any {
	all := claims(map[string]any{"sub": w.owner})
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// mint signs claims as the installation does.
func (w *world) mint(changes map[string]any) string {
	w.Helper()
	return sign(w, jose.EdDSA, w.key, w.keyID, w.claims(changes))
}

func (w *world) authenticate(token string) (*Actor, error) {
	return w.auth.Authenticate(w.Context(), "Bearer "+token)
}

func (w *world) accepts(name, token string) *Actor {
	w.Helper()
	a, err := w.authenticate(token)
	if err != nil {
		w.Fatalf("%s: %v", name, err)
	}
	return a
}

// refuses expects a refusal, for one of the causes where some are given.
func (w *world) refuses(name, token string, causes ...cause) {
	w.Helper()
	a, err := w.authenticate(token)
	refused(w, name, a, err, causes...)
}

// allCauses is every cause that a sender may read.
var allCauses = []cause{
	noCredential, malformedHeader, mistypedKey, otherEnvironment, unknownKey, expiredKey, revokedKey, invalidToken,
	otherIssuer,
	otherToken, otherAudience, expiredSession, endedSession, tooManySessions, notAnOwner, otherSite, unknownBrowser, unknownLink, notAllowed,
	disabledOwner, lostGrant,
}

func refused(t testing.TB, name string, a *Actor, err error, causes ...cause) {
	t.Helper()
	refusal, ok := fault.From(err)
	if a != nil || !ok || refusal.Code != fault.Unauthenticated {
		t.Errorf("%s: %+v, %v", name, a, err)
		return
	}
	if len(causes) == 0 {
		causes = allCauses
	}
	if !slices.Contains(causes, cause(refusal.Message)) || len(refusal.Details) > 0 {
		t.Errorf("%s: the refusal says %q, want %q", name, refusal.Message, causes)
	}
}

// unavailable expects the refusal of an issuer that cannot be asked.
func unavailable(t testing.TB, name string, a *Actor, err error) {
	t.Helper()
	if refusal, ok := fault.From(err); a != nil || !ok || refusal.Code != fault.Unavailable {
		t.Errorf("%s: %+v, %v", name, a, err)
	}
}

// storeKey stores a key of the owner as package apikey does.
func (w *world) storeKey(text string, apps, permissions []string, expires clock.Instant,
	revoked *clock.Instant) (id string) {
	w.Helper()
	id = ids.New()
	a, err := json.Marshal(apps)
	p, permissionsErr := json.Marshal(permissions)
	if err := errors.Join(err, permissionsErr); err != nil {
		w.Fatal(err)
	}
	w.exec(`INSERT INTO api_key (id, owner_id, name, prefix, digest, app_ids, permissions, expires_at, revoked_at,
		revision, created_at, updated_at)
		VALUES (?, ?, 'key', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, w.owner, text[:shownChars], Digest(text), string(a), string(p), expires, revoked, ids.Revision(),
		w.db.Now(), w.db.Now())
	return id
}

func (w *world) now() clock.Instant { return w.db.Now() }

func (w *world) rebuild(g Grant) (*Actor, error) {
	return g.rebuild(context.Background(), w.db, w.now())
}
