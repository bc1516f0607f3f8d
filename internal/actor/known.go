package actor

import (
	"context"
	"errors"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// KnownSession is a session as its owner and the operator see it.
type KnownSession struct {
	ID        string // names it here; neither its token nor its sid
	OwnerID   string
	Email     string
	Issuer    string
	IssuedAt  clock.Instant
	ExpiresAt clock.Instant // of the last token that was seen
	// Browser tells the session of a browser from that of a token. Name is what the browser
	// is called, and UsedAt when it was last used, give or take usedEvery.
	Browser bool
	Name    string
	UsedAt  *clock.Instant

	endedAt  *clock.Instant
	removeAt clock.Instant
}

const knownSession = `SELECT s.credential, u.id, COALESCE(u.email, ''), u.issuer, s.issued_at, s.expires_at, s.ended_at,
	s.remove_at, s.digest IS NOT NULL, COALESCE(s.name, ''), s.used_at
	FROM session s JOIN users u ON u.id = s.user_id`

func scanKnown(r store.Row) (k KnownSession, err error) {
	err = r.Scan(&k.ID, &k.OwnerID, &k.Email, &k.Issuer, &k.IssuedAt, &k.ExpiresAt, &k.endedAt, &k.removeAt, &k.Browser,
		&k.Name, &k.UsedAt)
	k.ID = strings.TrimPrefix(k.ID, sessionPrefix)
	return k, err
}

// Sessions returns at most limit sessions that are neither over nor ended,
// those that last longest first: of the owners with an e-mail address, or of
// everybody when it is "".
func Sessions(ctx context.Context, db *store.DB, email string, limit int) (all []KnownSession, err error) {
	defer fault.Wrap(&err, "list sessions")
	var where store.Where
	if email != "" {
		where.And("u.email = ?", strings.ToLower(strings.TrimSpace(email)))
	}
	return listSessions(ctx, db, &where, limit)
}

// SessionsOf is Sessions of one owner.
func SessionsOf(ctx context.Context, db *store.DB, ownerID string, limit int) (all []KnownSession, err error) {
	defer fault.Wrap(&err, "actor.SessionsOf(%s)", ownerID)
	var where store.Where
	where.And("s.user_id = ?", ownerID)
	return listSessions(ctx, db, &where, limit)
}

func listSessions(ctx context.Context, db *store.DB, where *store.Where, limit int) ([]KnownSession, error) {
	now := db.Now()
	where.And("s.ended_at IS NULL AND s.remove_at > ? AND (s.digest IS NULL OR s.expires_at > ?)", now, now)
	return store.All(ctx, db, scanKnown, knownSession+where.String()+" ORDER BY s.remove_at DESC, s.credential LIMIT ?",
		where.Args(limit)...)
}

// EndSessionOf ends the session of an owner that has an ID of SessionsOf. store.ErrNotFound
// means that there is none to end.
func EndSessionOf(ctx context.Context, db *store.DB, ownerID, id string) (err error) {
	defer fault.Wrap(&err, "actor.EndSessionOf(%s)", ownerID)
	return db.InTx(ctx, func(tx *store.Tx) error {
		k, err := store.One(ctx, tx, scanKnown, knownSession+" WHERE s.credential = ? AND s.user_id = ?", sessionPrefix+id,
			ownerID)
		if err == nil && k.over(tx.Now) {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		return k.end(ctx, tx)
	})
}

// EndSessions ends the session that is named by its token, its sid, the secret of its
// browser or the ID that Sessions shows, or all sessions of the owners with an e-mail address,
// and returns them. Addresses that would sign in such an owner work no more. To end none is an
// error.
func EndSessions(ctx context.Context, db *store.DB, which string) (ended []KnownSession, err error) {
	defer fault.Wrap(&err, "end sessions")
	err = db.InTx(ctx, func(tx *store.Tx) error {
		which := strings.TrimSpace(which)
		found, err := findSessions(ctx, tx, which)
		if err != nil {
			return err
		}
		email := strings.ToLower(which)
		if _, err := tx.Exec(ctx, `DELETE FROM sign_in_link WHERE email = ? OR user_id IN (SELECT id FROM users
			WHERE email = ?)`, email, email); err != nil {
			return err
		}
		ended = nil
		for _, k := range found {
			if k.over(tx.Now) {
				continue
			}
			if err := k.end(ctx, tx); err != nil {
				return err
			}
			ended = append(ended, k)
		}
		switch {
		case len(found) == 0:
			return errors.New("no session here has this token, id or owner's e-mail address (see waymark session list)")
		case len(ended) == 0:
			return errors.New("nothing is left to end: it was ended before or has expired")
		}
		return nil
	})
	return ended, err
}

// over reports whether nothing is left to end.
func (k KnownSession) over(now clock.Instant) bool {
	return k.endedAt != nil || k.removeAt <= now || k.Browser && k.ExpiresAt <= now
}

// end refuses the session from now on, and what was started with it.
func (k KnownSession) end(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE session SET ended_at = ?, remove_at = ? WHERE credential = ?", tx.Now,
		max(k.removeAt, tx.Now.Add(endedRetention)), sessionPrefix+k.ID)
	return err
}

func findSessions(ctx context.Context, tx *store.Tx, which string) ([]KnownSession, error) {
	byEmail, err := store.All(ctx, tx, scanKnown, knownSession+" WHERE u.email = ?", strings.ToLower(which))
	if err != nil || len(byEmail) > 0 {
		return byEmail, err
	}
	id := which
	if claims, ok := unverified(which); ok {
		id = claims.sessionID(which)
	}
	issuers, err := store.All(ctx, tx, store.Value[string], "SELECT DISTINCT issuer FROM users")
	if err != nil {
		return nil, err
	}
	credentials := []any{sessionPrefix + id}
	for _, issuer := range append(issuers, LocalIssuerURL) { // owners of any issuer may have local sessions
		credentials = append(credentials, sessionCredential(issuer, id))
	}
	return store.All(ctx, tx, scanKnown, knownSession+" WHERE s.credential IN ("+store.Marks(len(credentials))+
		") OR s.digest = ?", append(credentials, Digest(which))...)
}
