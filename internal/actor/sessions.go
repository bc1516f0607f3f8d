package actor

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// maxSessions is how many sessions an owner may have at once, maxEnded how many ended ones are
	// known of an owner besides.
	maxSessions, maxEnded = 1000, 10_000
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
	// browser is set for the session of a browser, which lasts until recordedUntil. That of a
	// token lasts as long as the token says.
	browser bool
}

// check refuses a session that is not, or no longer, its owner's.
func (h holder) check(now clock.Instant) error {
	switch {
	case h.endedAt != 0:
		return endedSession.because("owner %s", h.ownerID)
	case h.browser && h.recordedUntil <= now:
		return expiredSession.because("owner %s", h.ownerID)
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
	h, err := s.find(ctx, tx, autoProvision)
	if err == nil {
		err = s.record(ctx, tx, h.ownerID)
	}
	return h, err
}

// find returns the owner of a session that is accepted, who is created where that is allowed.
func (s Session) find(ctx context.Context, tx *store.Tx, autoProvision bool) (holder, error) {
	h, err := s.holder(ctx, tx)
	if errors.Is(err, store.ErrNotFound) {
		if err := s.welcome(ctx, tx, autoProvision); err != nil {
			return h, err
		}
		h, err = s.holder(ctx, tx)
	}
	if err == nil {
		err = h.check(tx.Now)
	}
	return h, err
}

// makeRoom refuses one session more of an owner who has maxSessions others, unless one of
// these is over, which goes. Ended sessions stay known, so that what was started with them stays
// ended; with maxEnded of them, a further session is refused, too.
func makeRoom(ctx context.Context, tx *store.Tx, ownerID, credential string) error {
	type sessions struct {
		count, ended int
		soonest      clock.Instant
	}
	others, err := store.One(ctx, tx, func(r store.Row) (v sessions, err error) {
		err = r.Scan(&v.count, &v.ended, &v.soonest)
		return v, err
	}, `SELECT COUNT(*) - COUNT(ended_at), COUNT(ended_at), COALESCE(MIN(CASE WHEN ended_at IS NULL THEN expires_at END), 0)
		FROM session WHERE user_id = ? AND credential <> ?`, ownerID, credential)
	if err != nil || others.count < maxSessions && others.ended < maxEnded {
		return err
	}
	if others.soonest > tx.Now || others.ended >= maxEnded {
		return tooManySessions.because("owner %s has %d", ownerID, others.count)
	}
	_, err = tx.Exec(ctx, "DELETE FROM session WHERE user_id = ? AND ended_at IS NULL AND expires_at = ?", ownerID,
		others.soonest)
	return err
}

// record stores a session or that it goes on.
func (s Session) record(ctx context.Context, tx *store.Tx, ownerID string) error {
	if err := makeRoom(ctx, tx, ownerID, s.credential()); err != nil {
		return err
	}
	issued, expires := tx.Now, clock.At(s.Expires)
	if !s.Issued.IsZero() {
		issued = clock.At(s.Issued)
	}
	remove := expires
	if s.Renewable {
		remove = expires.Add(renewableFor)
	}
	_, err := tx.Exec(ctx, `INSERT INTO session (credential, user_id, issued_at, expires_at, remove_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (credential) DO UPDATE SET expires_at = excluded.expires_at, remove_at = excluded.remove_at`,
		s.credential(), ownerID, issued, expires, remove)
	return err
}

// SweepSessions removes at most limit sessions that are over.
func SweepSessions(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "actor.SweepSessions")
	return db.Exec(ctx, `DELETE FROM session WHERE credential IN (SELECT credential FROM session WHERE remove_at <= ?
		LIMIT ?)`, db.Now(), limit)
}
