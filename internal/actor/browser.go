package actor

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// browserIdle is for how long a browser that is not used stays signed in, BrowserLifetime
	// for how long any does.
	browserIdle     = 7 * 24 * time.Hour
	BrowserLifetime = 30 * 24 * time.Hour
	// usedEvery is how far apart the noted uses of a browser are, so that few reads lead to a
	// write.
	usedEvery = 5 * time.Minute
	// signedOutKept is how long a session stays known that its owner signed out of: longer than
	// any call of it that is under way.
	signedOutKept = 24 * time.Hour
	// secretBytes is how many random bytes the secret of a browser, or a code, has.
	secretBytes = 32
)

// newSecret makes the secret of a cookie or of an address that signs in. Its digest is all
// that is stored.
func newSecret() string {
	var b [secretBytes]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// isSecret reports whether a text can be a secret at all, so that nothing else reaches the
// database.
func isSecret(text string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) == secretBytes && len(text) == base64.RawURLEncoding.EncodedLen(secretBytes)
}

// browserUntil is the end of a browser session that was used at a time.
func browserUntil(issued, used clock.Instant) clock.Instant {
	return min(used.Add(browserIdle), issued.Add(BrowserLifetime))
}

// SignIn makes a session for a browser of an active owner and returns its secret, for the
// browser's cookie. name is what the browser is called in lists.
func SignIn(ctx context.Context, tx *store.Tx, ownerID, name string) (secret string, err error) {
	defer fault.Wrap(&err, "actor.SignIn(%s)", ownerID)
	active, err := store.One(ctx, tx, store.Value[bool], "SELECT active FROM users WHERE id = ?", ownerID)
	if errors.Is(err, store.ErrNotFound) {
		return "", lostGrant.refusal()
	}
	if err != nil {
		return "", err
	}
	if !active {
		return "", disabledOwner.because("owner %s", ownerID)
	}
	var id [16]byte
	rand.Read(id[:])
	credential := sessionPrefix + hex.EncodeToString(id[:])
	if err := makeRoom(ctx, tx, ownerID, credential); err != nil {
		return "", err
	}
	secret = newSecret()
	until := browserUntil(tx.Now, tx.Now)
	_, err = tx.Exec(ctx, `INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at, digest, name, used_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, credential, ownerID, tx.Now, until, until, Digest(secret), storable(name, maxName), tx.Now)
	return secret, err
}

// Browser returns the owner who signed in with a browser, by the secret in its cookie, or a
// refusal that says what is wrong with it. own tells that one of our own pages asks.
func (a *Authenticator) Browser(ctx context.Context, secret string, own bool) (*Actor, error) {
	if !own {
		return nil, otherSite.refusal()
	}
	if !isSecret(secret) {
		return nil, unknownBrowser.refusal()
	}
	var issued, used clock.Instant
	actor := &Actor{Type: Human}
	h, err := store.One(ctx, a.db, func(r store.Row) (h holder, err error) {
		h.browser = true
		err = r.Scan(&actor.Credential, &h.ownerID, &h.active, &issued, &h.recordedUntil, &h.endedAt, &used)
		return h, err
	}, `SELECT s.credential, u.id, u.active, s.issued_at, s.expires_at, COALESCE(s.ended_at, 0), s.used_at
		FROM session s JOIN users u ON u.id = s.user_id WHERE s.digest = ?`, Digest(secret))
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknownBrowser.refusal()
	}
	now := a.db.Now()
	if err == nil {
		err = h.check(now)
	}
	if err != nil {
		return nil, fmt.Errorf("authenticate browser: %w", err)
	}
	if now.Sub(used) >= usedEvery {
		a.note(actor.Credential, use{at: now, until: browserUntil(issued, now)})
	}
	actor.OwnerID, actor.Windows, actor.ExpiresAt = h.ownerID, actor.Credential, h.recordedUntil
	return actor, nil
}

// SignOut ends the session of a browser by the digest of its secret, where there is one. What the
// owner started with it goes on, as after its expiry. A use from before, of which the database is
// told later, does not bring the session back.
func SignOut(ctx context.Context, db *store.DB, digest string) (err error) {
	defer fault.Wrap(&err, "actor.SignOut")
	if digest == "" {
		return nil
	}
	now := db.Now()
	_, err = db.Exec(ctx, `UPDATE session SET expires_at = ?, remove_at = ?, used_at = ? WHERE digest = ? AND ended_at IS NULL
		AND expires_at > ?`, now, now.Add(signedOutKept), now, digest, now)
	return err
}
