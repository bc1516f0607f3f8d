package actor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// Authenticator turns credentials into actors.
type Authenticator struct {
	db          *store.DB
	environment Environment
	issuers     []*Issuer

	// used collects when credentials were last used; FlushUsed stores it, so that a
	// read costs no write.
	mu   sync.Mutex
	used map[string]use
}

// use is the last use of a credential.
type use struct {
	at clock.Instant
	// until is when the session of a browser ends unless it is used again.
	until clock.Instant
}

// NewAuthenticator accepts keys of the environment and sessions of the
// issuers.
func NewAuthenticator(db *store.DB, environment Environment, issuers ...*Issuer) *Authenticator {
	return &Authenticator{db: db, environment: environment, issuers: issuers, used: map[string]use{}}
}

// Environment returns which keys are issued and accepted.
func (a *Authenticator) Environment() Environment { return a.environment }

// Authenticate returns the holder of the value of an Authorization header, or
// a refusal that says what is wrong with it.
func (a *Authenticator) Authenticate(ctx context.Context, authorization string) (*Actor, error) {
	if authorization == "" {
		return nil, noCredential.refusal()
	}
	token, ok := bearer(authorization)
	if !ok {
		return nil, malformedHeader.refusal()
	}
	if strings.HasPrefix(token, keyTextPrefix) {
		return a.key(ctx, token)
	}
	issuer, err := a.issuerOf(token)
	if err != nil {
		return nil, err
	}
	session, err := issuer.verify(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("verify session: %w", err)
	}
	return a.session(ctx, issuer, session)
}

// maxToken bounds a token, in bytes.
const maxToken = 16 << 10

// bearer returns the token of an Authorization header: the scheme in any
// letter case, spaces, and a token of RFC 6750 §2.1. Its alphabet leaves out
// the other form of a signed token, JSON, which has unprotected headers.
func bearer(authorization string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return "", false
	}
	body := strings.TrimRight(token, "=")
	return token, body != "" && !strings.ContainsFunc(body, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') &&
			!strings.ContainsRune("-._~+/", c)
	})
}

// issuerOf returns the issuer that a token claims to be of, which is to verify
// it.
func (a *Authenticator) issuerOf(token string) (*Issuer, error) {
	claims, ok := unverified(token)
	if !ok {
		return nil, invalidToken.because("it is neither an API key nor a token with claims")
	}
	for _, i := range a.issuers {
		if i.issued(claims.Issuer) {
			return i, nil
		}
	}
	return nil, otherIssuer.because("issuer %.200q", claims.Issuer)
}

// Cheap reports whether finding out about a credential costs little: a key's
// text is checked before anything is asked, the keys of local sessions are in
// the database, and a session that was verified before is remembered. Only an
// unknown session of a remote issuer may have its keys fetched again.
func (a *Authenticator) Cheap(authorization string) bool {
	token, ok := bearer(authorization)
	if !ok || strings.HasPrefix(token, keyTextPrefix) {
		return ok
	}
	issuer, err := a.issuerOf(token)
	return err != nil || issuer.URL == LocalIssuerURL || issuer.remembers(token)
}

func (a *Authenticator) key(ctx context.Context, text string) (*Actor, error) {
	if !a.environment.wellFormed(text) {
		if a.environment.other().wellFormed(text) {
			return nil, otherEnvironment.refusal()
		}
		return nil, mistypedKey.refusal()
	}
	actor, err := keyWhere(ctx, a.db, "k.digest = ?", Digest(text), a.db.Now())
	if err == nil {
		a.note(actor.Credential, use{at: a.db.Now()})
	}
	return actor, err
}

// note keeps that a credential was used, for FlushUsed.
func (a *Authenticator) note(credential string, u use) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used[credential] = u
}

// keyWhere loads a key that is in force with its active owner.
func keyWhere(ctx context.Context, q store.Q, condition, value string, now clock.Instant) (*Actor, error) {
	return oneKey(ctx, q, func(r store.Row) (*Actor, error) { return scanKey(r, now) },
		"SELECT "+keyColumns+keyTables+condition, value)
}

// The parts of a SELECT of a key for scanKey, but for its condition.
const (
	keyColumns = "k.id, COALESCE(k.first_id, k.id), k.owner_id, k.app_ids, k.permissions, k.expires_at, k.revoked_at, u.active"
	keyTables  = " FROM api_key k JOIN users u ON u.id = k.owner_id WHERE "
)

// oneKey returns the key that a query finds, as scan does.
func oneKey(ctx context.Context, q store.Q, scan func(store.Row) (*Actor, error), query string, args ...any) (*Actor,
	error) {
	actor, err := store.One(ctx, q, scan, query, args...)
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknownKey.refusal()
	}
	if err != nil {
		return nil, fmt.Errorf("authenticate key: %w", err)
	}
	return actor, nil
}

// scanKey returns the caller with a key, and scans more columns after those of the key. A
// key that is not in force is refused.
func scanKey(r store.Row, now clock.Instant, more ...any) (*Actor, error) {
	actor := &Actor{Type: APIKey}
	var id, first, apps, permissions string
	var revoked *clock.Instant
	var active bool
	if err := r.Scan(append([]any{&id, &first, &actor.OwnerID, &apps, &permissions, &actor.ExpiresAt, &revoked, &active},
		more...)...); err != nil {
		return nil, err
	}
	actor.Credential, actor.Windows = keyCredential+id, keyCredential+first
	why := cause("")
	switch {
	case revoked != nil && *revoked <= now:
		why = revokedKey
	case actor.ExpiresAt <= now:
		why = expiredKey
	case !active:
		why = disabledOwner
	}
	if why != "" {
		return nil, why.because("key %s of owner %s", id, actor.OwnerID)
	}
	return actor, errors.Join(json.Unmarshal([]byte(apps), &actor.AppIDs),
		json.Unmarshal([]byte(permissions), &actor.Permissions))
}

// session returns the owner of a verified session. One that is new here, or
// goes on with a later token, is recorded first, so that it can be ended.
func (a *Authenticator) session(ctx context.Context, issuer *Issuer, s Session) (*Actor, error) {
	h, err := s.holder(ctx, a.db)
	if errors.Is(err, store.ErrNotFound) || err == nil && h.recordedUntil < clock.At(s.Expires) && h.check(a.db.Now()) == nil {
		err = a.db.InTx(ctx, func(tx *store.Tx) error {
			h, err = s.admit(ctx, tx, issuer.AutoProvision)
			return err
		})
	}
	if err == nil {
		err = h.check(a.db.Now())
	}
	if err != nil {
		return nil, fmt.Errorf("authenticate session: %w", err)
	}
	credential := s.credential()
	return &Actor{Type: Human, OwnerID: h.ownerID, Credential: credential, Windows: credential,
		ExpiresAt: clock.At(s.Expires)}, nil
}

// FlushUsed stores when keys and browsers were last used. What it could not store it
// tries again next time.
func (a *Authenticator) FlushUsed(ctx context.Context) error {
	a.mu.Lock()
	used := a.used
	a.used = map[string]use{}
	a.mu.Unlock()
	for credential, u := range used {
		if err := a.flush(ctx, credential, u); err != nil {
			a.keepUsed(used)
			return fmt.Errorf("store last use of credentials: %w", err)
		}
		delete(used, credential)
	}
	return nil
}

// flush stores a use, unless a later one is known. A session that is over stays over.
func (a *Authenticator) flush(ctx context.Context, credential string, u use) (err error) {
	if id, ok := strings.CutPrefix(credential, keyCredential); ok {
		_, err = a.db.Exec(ctx, `UPDATE api_key SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL
			OR last_used_at < ?)`, u.at, id, u.at)
		return err
	}
	_, err = a.db.Exec(ctx, `UPDATE session SET used_at = ?, expires_at = ?, remove_at = ? WHERE credential = ?
		AND used_at < ? AND ended_at IS NULL AND expires_at > ?`, u.at, u.until, u.until, credential, u.at, u.at)
	return err
}

// keepUsed takes back what is not stored, where nothing newer is known.
func (a *Authenticator) keepUsed(used map[string]use) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for credential, u := range used {
		if a.used[credential].at < u.at {
			a.used[credential] = u
		}
	}
}

// Run stores the last uses now and then until ctx ends, and then the last of
// them. Verified tokens are forgotten when an older copy takes the place of the database:
// it may not have the key of a local session.
func (a *Authenticator) Run(ctx context.Context, log *slog.Logger) {
	flush := func(ctx context.Context) {
		if err := a.FlushUsed(ctx); err != nil {
			log.Error("authenticator", "error", err)
		}
	}
	replaced := a.db.Listen(store.HistoryTopic)
	for {
		select {
		case <-replaced:
			for _, i := range a.issuers {
				i.seen.InvalidateAll()
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			flush(last)
			return
		case <-time.After(time.Second):
			flush(ctx)
		}
	}
}
