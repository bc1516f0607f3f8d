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
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Authenticator turns bearer credentials into actors.
type Authenticator struct {
	db          *store.DB
	environment Environment
	issuer      *Issuer

	// used collects when keys were last used; FlushUsed stores it, so that a
	// read costs no write.
	mu   sync.Mutex
	used map[string]clock.Instant
}

// NewAuthenticator accepts keys of the environment and sessions of the
// issuer.
func NewAuthenticator(db *store.DB, environment Environment, issuer *Issuer) *Authenticator {
	return &Authenticator{db: db, environment: environment, issuer: issuer, used: map[string]clock.Instant{}}
}

// Environment returns which keys are issued and accepted.
func (a *Authenticator) Environment() Environment { return a.environment }

// unauthenticated is the one refusal of every credential that does not hold,
// whatever is wrong with it.
func unauthenticated() error {
	return fault.New(fault.Unauthenticated, "The credential is missing, invalid, expired or revoked.")
}

// Authenticate returns the holder of the value of an Authorization header.
func (a *Authenticator) Authenticate(ctx context.Context, authorization string) (*Actor, error) {
	token, ok := bearer(authorization)
	if !ok {
		return nil, unauthenticated()
	}
	if strings.HasPrefix(token, "svc_") {
		return a.key(ctx, token)
	}
	session, err := a.issuer.verify(ctx, token)
	if errors.Is(err, errSession) {
		return nil, unauthenticated()
	}
	if err != nil {
		return nil, fmt.Errorf("verify session: %w", err)
	}
	return a.session(ctx, session)
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
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("-._~+/", c)
	})
}

// Cheap reports whether finding out about a credential costs little: a key's
// text is checked before anything is asked, and a session that was verified
// before is remembered. Only an unknown session of a remote issuer may have
// its keys fetched again.
func (a *Authenticator) Cheap(authorization string) bool {
	token, ok := bearer(authorization)
	return ok && (a.issuer.URL == LocalIssuerURL || strings.HasPrefix(token, "svc_") || a.issuer.remembers(token))
}

func (a *Authenticator) key(ctx context.Context, text string) (*Actor, error) {
	if !a.environment.wellFormed(text) {
		return nil, unauthenticated()
	}
	actor, err := keyWhere(ctx, a.db, "k.digest = ?", Digest(text), a.db.Now())
	if err == nil {
		a.mu.Lock()
		a.used[actor.PrincipalID()] = a.db.Now()
		a.mu.Unlock()
	}
	return actor, err
}

// keyWhere loads a key that is in force with its active owner.
func keyWhere(ctx context.Context, q store.Q, condition, value string, now clock.Instant) (*Actor, error) {
	actor, err := store.One(ctx, q, func(r store.Row) (*Actor, error) {
		a := &Actor{Type: APIKey}
		var id, apps, permissions string
		if err := r.Scan(&id, &a.OwnerID, &apps, &permissions, &a.ExpiresAt); err != nil {
			return nil, err
		}
		a.Credential = keyCredential + id
		if err := json.Unmarshal([]byte(apps), &a.AppIDs); err != nil {
			return nil, err
		}
		return a, json.Unmarshal([]byte(permissions), &a.Permissions)
	}, `SELECT k.id, k.owner_id, k.app_ids, k.permissions, k.expires_at FROM api_key k JOIN users u ON u.id = k.owner_id
		WHERE `+condition+` AND k.expires_at > ? AND (k.revoked_at IS NULL OR k.revoked_at > ?) AND u.active`, value, now, now)
	if err == store.ErrNotFound {
		return nil, unauthenticated()
	}
	return actor, err
}

func (a *Authenticator) session(ctx context.Context, s Session) (*Actor, error) {
	type user struct {
		id              string
		active, revoked bool
	}
	credential := sessionCredential(s.Issuer, s.ID)
	find := func(q store.Q) (user, error) {
		return store.One(ctx, q, func(r store.Row) (u user, err error) {
			err = r.Scan(&u.id, &u.active, &u.revoked)
			return u, err
		}, `SELECT u.id, u.active, EXISTS (SELECT 1 FROM revoked_session WHERE credential = ?)
			FROM users u WHERE u.issuer = ? AND u.subject = ?`, credential, s.Issuer, s.Subject)
	}
	u, err := find(a.db)
	if err == store.ErrNotFound && a.issuer.AutoProvision {
		err = a.db.InTx(ctx, func(tx *store.Tx) error {
			if _, err := provision(ctx, tx, s); err != nil {
				return err
			}
			if u, err = find(tx); err == nil && u.revoked {
				return unauthenticated() // and no owner is left behind
			}
			return err
		})
	}
	if err == store.ErrNotFound || err == nil && (!u.active || u.revoked) {
		return nil, unauthenticated()
	}
	if err != nil {
		return nil, fmt.Errorf("authenticate session: %w", err)
	}
	return &Actor{Type: Human, OwnerID: u.id, Credential: credential, ExpiresAt: clock.At(s.Expires)}, nil
}

// sessionPrefix starts the credential of every session.
const sessionPrefix = "session:"

// sessionCredential names a session without telling it: the id of a session
// is close to a secret at some providers.
func sessionCredential(issuer, id string) string {
	return sessionPrefix + Digest(issuer + "\x00" + id)[:32]
}

// provision creates the owner of a session when it is new.
func provision(ctx context.Context, tx *store.Tx, s Session) (id string, err error) {
	id, err = store.One(ctx, tx, store.Value[string], "SELECT id FROM users WHERE issuer = ? AND subject = ?", s.Issuer, s.Subject)
	if err != store.ErrNotFound {
		return id, err
	}
	id = ids.New()
	_, err = tx.Exec(ctx, `INSERT INTO users (id, issuer, subject, email, display_name, active, revision, theme, preferences_revision, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, TRUE, ?, 'system', ?, ?, ?)`,
		id, s.Issuer, s.Subject, store.NullString(s.Email), store.NullString(s.Name), ids.Revision(), ids.Revision(), tx.Now, tx.Now)
	return id, err
}

// RevokeSession ends one session of an issuer before its token expires.
func RevokeSession(ctx context.Context, db *store.DB, issuer, sessionID string) error {
	_, err := db.Exec(ctx, "INSERT INTO revoked_session (credential, revoked_at) VALUES (?, ?) ON CONFLICT DO NOTHING", sessionCredential(issuer, sessionID), db.Now())
	return err
}

// FlushUsed stores when keys were last used. What it could not store it tries
// again next time.
func (a *Authenticator) FlushUsed(ctx context.Context) error {
	a.mu.Lock()
	used := a.used
	a.used = map[string]clock.Instant{}
	a.mu.Unlock()
	for id, at := range used {
		if _, err := a.db.Exec(ctx, "UPDATE api_key SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)", at, id, at); err != nil {
			a.keepUsed(used)
			return fmt.Errorf("store last use of keys: %w", err)
		}
		delete(used, id)
	}
	return nil
}

// keepUsed takes back what is not stored, where nothing newer is known.
func (a *Authenticator) keepUsed(used map[string]clock.Instant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, at := range used {
		a.used[id] = max(a.used[id], at)
	}
}

// Rebuild returns the holder of a grant as it is now, or unauthenticated when
// its credential no longer holds. What a session started goes on after the
// session expired, but not after it was revoked.
func Rebuild(ctx context.Context, q store.Q, g Grant, now clock.Instant) (*Actor, error) {
	if id, ok := strings.CutPrefix(g.Credential, keyCredential); ok {
		return keyWhere(ctx, q, "k.id = ?", id, now)
	}
	if !strings.HasPrefix(g.Credential, sessionPrefix) {
		return nil, unauthenticated()
	}
	active, err := store.Exists(ctx, q, `SELECT 1 FROM users WHERE id = ? AND active
		AND NOT EXISTS (SELECT 1 FROM revoked_session WHERE credential = ?)`, g.OwnerID, g.Credential)
	if err != nil {
		return nil, err
	}
	if !active {
		return nil, unauthenticated()
	}
	return &Actor{Type: Human, OwnerID: g.OwnerID, Credential: g.Credential}, nil
}

// Run stores the last uses now and then until ctx ends, and then the last of
// them.
func (a *Authenticator) Run(ctx context.Context, log *slog.Logger) {
	flush := func(ctx context.Context) {
		if err := a.FlushUsed(ctx); err != nil {
			log.Error("authenticator", "error", err)
		}
	}
	for {
		select {
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
