package actor

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// linkLifetime is for how long an address signs in.
const linkLifetime = 10 * time.Minute

// IssueLink returns the code of an address that signs in a browser of the local owner with
// this e-mail address, once and within ten minutes. An owner who is new is made when the
// address is used.
func IssueLink(ctx context.Context, db *store.DB, email string) (code string, err error) {
	defer fault.Wrap(&err, "issue link")
	if email, err = address(email); err != nil {
		return "", err
	}
	return issueLink(ctx, db, func(tx *store.Tx) (o Owner, err error) {
		o, err = store.One(ctx, tx, scanOwner, ownerColumns+" WHERE issuer = ? AND subject = ?", LocalIssuerURL, email)
		if errors.Is(err, store.ErrNotFound) {
			return Owner{Email: email, Active: true}, nil
		}
		return o, err
	})
}

// IssueLinkFor is IssueLink for an owner who exists, of any issuer.
func IssueLinkFor(ctx context.Context, db *store.DB, ownerID string) (code string, err error) {
	defer fault.Wrap(&err, "issue link")
	return issueLink(ctx, db, func(tx *store.Tx) (Owner, error) { return ownerOf(ctx, tx, ownerID) })
}

func issueLink(ctx context.Context, db *store.DB, find func(*store.Tx) (Owner, error)) (code string, err error) {
	code = newSecret()
	err = db.InTx(ctx, func(tx *store.Tx) error {
		o, err := find(tx)
		if err != nil {
			return err
		}
		if !o.Active {
			return errDisabled
		}
		email := ""
		if o.ID == "" {
			email = o.Email
		}
		_, err = tx.Exec(ctx, "INSERT INTO sign_in_link (digest, user_id, email, expires_at) VALUES (?, ?, ?, ?)",
			Digest(code), store.NullString(o.ID), store.NullString(email), tx.Now.Add(linkLifetime))
		return err
	})
	return code, err
}

// UseLink signs a browser in by the code of an address, which then works no more, and
// returns the secret for its cookie.
func UseLink(ctx context.Context, db *store.DB, code, browser string) (secret string, err error) {
	defer fault.Wrap(&err, "actor.UseLink")
	if !isSecret(code) {
		return "", unknownLink.refusal()
	}
	err = db.InTx(ctx, func(tx *store.Tx) error {
		type link struct {
			ownerID, email string
			expires        clock.Instant
		}
		l, err := store.One(ctx, tx, func(r store.Row) (l link, err error) {
			err = r.Scan(&l.ownerID, &l.email, &l.expires)
			return l, err
		}, "SELECT COALESCE(user_id, ''), COALESCE(email, ''), expires_at FROM sign_in_link WHERE digest = ?", Digest(code))
		if errors.Is(err, store.ErrNotFound) || err == nil && l.expires <= tx.Now {
			return unknownLink.refusal()
		}
		if err != nil {
			return err
		}
		if l.ownerID == "" {
			if l.ownerID, err = provision(ctx, tx, Owner{Issuer: LocalIssuerURL, Subject: l.email, Email: l.email}); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM sign_in_link WHERE digest = ?", Digest(code)); err != nil {
			return err
		}
		secret, err = SignIn(ctx, tx, l.ownerID, browser)
		return err
	})
	return secret, err
}

// SweepLinks removes at most limit addresses that sign in no more.
func SweepLinks(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "actor.SweepLinks")
	return db.Exec(ctx, `DELETE FROM sign_in_link WHERE digest IN (SELECT digest FROM sign_in_link WHERE expires_at <= ?
		LIMIT ?)`, db.Now(), limit)
}
