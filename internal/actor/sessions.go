package actor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// maxSessions is how many sessions an owner may have at once.
	maxSessions = 1000
	// renewableFor is how long after its last token an issuer may continue a
	// session. Until then the session is kept, so that it can be ended.
	renewableFor = 30 * 24 * time.Hour
	// endedRetention is how long an ended session is kept: longer than any
	// issuer renews one, and than anything runs on its behalf.
	endedRetention = 400 * 24 * time.Hour
)

// sessionPrefix starts the credential of every session.
const sessionPrefix = "session:"

// sessionCredential names a session without telling its id, which is close to
// a secret at some issuers.
func sessionCredential(issuer, id string) string {
	return sessionPrefix + Digest(issuer + "\x00" + id)[:32]
}

func (s Session) credential() string { return sessionCredential(s.Issuer, s.ID) }

// holder is the owner of a session and what is recorded of the session.
type holder struct {
	ownerID string
	active  bool
	// recordedFor is the owner of the recorded session, "" where none is known.
	recordedFor   string
	recordedUntil clock.Instant
	endedAt       clock.Instant // 0 unless it was ended
}

// check refuses a session that is not, or no longer, its owner's.
func (h holder) check() error {
	switch {
	case h.endedAt != 0:
		return endedSession.because("owner %s", h.ownerID)
	case h.recordedFor != "" && h.recordedFor != h.ownerID:
		return invalidToken.because("its session is one of owner %s, its subject is owner %s", h.recordedFor, h.ownerID)
	case !h.active:
		return disabledOwner.because("owner %s", h.ownerID)
	}
	return nil
}

// holder finds the owner of a session. The subject of a local session is the
// owner's id.
func (s Session) holder(ctx context.Context, q store.Q) (holder, error) {
	condition, args := "u.issuer = ? AND u.subject = ?", []any{s.credential(), s.Issuer, s.Subject}
	if s.Issuer == LocalIssuerURL {
		condition, args = "u.id = ?", []any{s.credential(), s.Subject}
	}
	return store.One(ctx, q, func(r store.Row) (h holder, err error) {
		err = r.Scan(&h.ownerID, &h.active, &h.recordedFor, &h.recordedUntil, &h.endedAt)
		return h, err
	}, `SELECT u.id, u.active, COALESCE(s.user_id, ''), COALESCE(s.expires_at, 0), COALESCE(s.ended_at, 0)
		FROM users u LEFT JOIN session s ON s.credential = ? WHERE `+condition, args...)
}

// admit records a session of its owner, who is created where that is allowed.
func (s Session) admit(ctx context.Context, tx *store.Tx, autoProvision bool) (holder, error) {
	h, err := s.holder(ctx, tx)
	if errors.Is(err, store.ErrNotFound) {
		if err := s.welcome(ctx, tx, autoProvision); err != nil {
			return h, err
		}
		h, err = s.holder(ctx, tx)
	}
	if err == nil {
		err = h.check()
	}
	if err == nil {
		err = s.record(ctx, tx, h.ownerID)
	}
	return h, err
}

// record stores a session or that it goes on.
func (s Session) record(ctx context.Context, tx *store.Tx, ownerID string) error {
	type sessions struct {
		count   int
		soonest clock.Instant
	}
	others, err := store.One(ctx, tx, func(r store.Row) (v sessions, err error) {
		err = r.Scan(&v.count, &v.soonest)
		return v, err
	}, `SELECT COUNT(*), COALESCE(MIN(expires_at), 0) FROM session WHERE user_id = ? AND ended_at IS NULL
		AND credential <> ?`, ownerID, s.credential())
	if err != nil {
		return err
	}
	if others.count >= maxSessions {
		if others.soonest > tx.Now {
			return tooManySessions.because("owner %s has %d", ownerID, others.count)
		}
		if _, err := tx.Exec(ctx, "DELETE FROM session WHERE user_id = ? AND ended_at IS NULL AND expires_at = ?",
			ownerID, others.soonest); err != nil {
			return err
		}
	}
	issued, expires := tx.Now, clock.At(s.Expires)
	if !s.Issued.IsZero() {
		issued = clock.At(s.Issued)
	}
	remove := expires
	if s.Renewable {
		remove = expires.Add(renewableFor)
	}
	_, err = tx.Exec(ctx, `INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (credential) DO UPDATE SET expires_at = excluded.expires_at, remove_at = excluded.remove_at`,
		s.credential(), ownerID, issued, expires, remove)
	return err
}

// KnownSession is a session as the operator sees it.
type KnownSession struct {
	ID        string // names it here; neither its token nor its sid
	OwnerID   string
	Email     string
	Issuer    string
	IssuedAt  clock.Instant
	ExpiresAt clock.Instant // of the last token that was seen

	endedAt  *clock.Instant
	removeAt clock.Instant
}

const knownSession = `SELECT s.credential, u.id, COALESCE(u.email, ''), u.issuer, s.issued_at, s.expires_at, s.ended_at,
	s.remove_at
	FROM session s JOIN users u ON u.id = s.user_id`

func scanKnown(r store.Row) (k KnownSession, err error) {
	err = r.Scan(&k.ID, &k.OwnerID, &k.Email, &k.Issuer, &k.IssuedAt, &k.ExpiresAt, &k.endedAt, &k.removeAt)
	k.ID = strings.TrimPrefix(k.ID, sessionPrefix)
	return k, err
}

// Sessions returns at most limit sessions that are neither over nor ended,
// those that last longest first: of the owners with an e-mail address, or of
// everybody when it is "".
func Sessions(ctx context.Context, db *store.DB, email string, limit int) (all []KnownSession, err error) {
	defer fault.Wrap(&err, "list sessions")
	var where store.Where
	where.And("s.ended_at IS NULL AND s.remove_at > ?", db.Now())
	if email != "" {
		where.And("u.email = ?", strings.ToLower(strings.TrimSpace(email)))
	}
	return store.All(ctx, db, scanKnown, knownSession+where.String()+" ORDER BY s.remove_at DESC, s.credential LIMIT ?",
		where.Args(limit)...)
}

// EndSessions ends the session that is named by its token, its sid or the ID
// that Sessions shows, or all sessions of the owners with an e-mail address,
// and returns them. To end none is an error.
func EndSessions(ctx context.Context, db *store.DB, which string) (ended []KnownSession, err error) {
	defer fault.Wrap(&err, "end sessions")
	err = db.InTx(ctx, func(tx *store.Tx) error {
		found, err := findSessions(ctx, tx, strings.TrimSpace(which))
		if err != nil {
			return err
		}
		ended = nil
		for _, k := range found {
			if k.endedAt != nil || k.removeAt <= tx.Now {
				continue
			}
			if _, err := tx.Exec(ctx, "UPDATE session SET ended_at = ?, remove_at = ? WHERE credential = ?", tx.Now,
				max(k.removeAt, tx.Now.Add(endedRetention)), sessionPrefix+k.ID); err != nil {
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
	return store.All(ctx, tx, scanKnown, knownSession+" WHERE s.credential IN ("+store.Marks(len(credentials))+")",
		credentials...)
}

// SweepSessions removes at most limit sessions that are over.
func SweepSessions(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "actor.SweepSessions")
	return db.Exec(ctx, `DELETE FROM session WHERE credential IN (SELECT credential FROM session WHERE remove_at <= ?
		LIMIT ?)`, db.Now(), limit)
}
