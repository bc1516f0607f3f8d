package actor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Owner is a user of the installation: who owns apps and keys. A session finds
// its owner by the issuer and the subject there.
type Owner struct {
	ID      string
	Issuer  string
	Subject string // "" for an invitation
	Email   string
	Name    string
	Active  bool
	Since   clock.Instant
}

// Invited reports an invitation: the first token with the e-mail address makes
// the owner.
func (o Owner) Invited() bool { return o.Subject == "" }

// welcome creates the owner of a session that has none: when the issuer's word
// is enough, or when the operator invited the verified e-mail address.
func (s Session) welcome(ctx context.Context, tx *store.Tx, autoProvision bool) error {
	invited := int64(0)
	if s.EmailVerified && s.Email != "" {
		var err error
		if invited, err = tx.Exec(ctx, "DELETE FROM invitation WHERE issuer = ? AND email = ?", s.Issuer,
			s.Email); err != nil {
			return err
		}
	}
	if invited == 0 && !autoProvision {
		return notAnOwner.because("issuer %q, subject %q", s.Issuer, s.Subject)
	}
	_, err := provision(ctx, tx, Owner{Issuer: s.Issuer, Subject: s.Subject, Email: s.Email, Name: s.Name})
	return err
}

// provision creates an owner who is new and returns the id. Without a name the
// e-mail address is what people recognize the owner by.
func provision(ctx context.Context, tx *store.Tx, o Owner) (id string, err error) {
	id, err = store.One(ctx, tx, store.Value[string], "SELECT id FROM users WHERE issuer = ? AND subject = ?", o.Issuer,
		o.Subject)
	if !errors.Is(err, store.ErrNotFound) {
		return id, err
	}
	id = ids.New()
	_, err = tx.Exec(ctx, `INSERT INTO users (id, issuer, subject, email, display_name, active, revision, theme,
		preferences_revision, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, TRUE, ?, 'system', ?, ?, ?)`,
		id, o.Issuer, o.Subject, store.NullString(o.Email), store.NullString(cmp.Or(o.Name, displayName(o.Email))),
		ids.Revision(), ids.Revision(), tx.Now, tx.Now)
	return id, err
}

// AddOwner creates an owner before the first session: of the local issuer by
// e-mail address when issuer is "", else of an OpenID Connect issuer by subject.
// Without a subject it invites the e-mail address: the first token of the issuer
// that has it as a verified one makes its subject the owner.
func AddOwner(ctx context.Context, db *store.DB, o Owner) (added Owner, err error) {
	defer fault.Wrap(&err, "add owner")
	if o.Email, err = address(o.Email); err != nil {
		return o, err
	}
	if o.Issuer == "" {
		o.Issuer, o.Subject = LocalIssuerURL, o.Email
	}
	if storable(o.Subject, maxSubject) != o.Subject {
		return o, fmt.Errorf("the subject is longer than %d characters or has control characters", maxSubject)
	}
	err = db.InTx(ctx, func(tx *store.Tx) (err error) {
		if o.Invited() {
			return invite(ctx, tx, o)
		}
		exists, err := store.Exists(ctx, tx, "SELECT 1 FROM users WHERE issuer = ? AND subject = ?", o.Issuer,
			o.Subject)
		if err == nil && exists {
			err = errors.New("there is an owner of this issuer and subject already (see waymark users list)")
		}
		if err != nil {
			return err
		}
		o.ID, err = provision(ctx, tx, o)
		return err
	})
	return o, err
}

func invite(ctx context.Context, tx *store.Tx, o Owner) error {
	exists, err := store.Exists(ctx, tx, "SELECT 1 FROM users WHERE issuer = ? AND email = ?", o.Issuer, o.Email)
	if err == nil && exists {
		err = errors.New("there is an owner of this issuer with this e-mail address already (see waymark users list)")
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO invitation (issuer, email, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		o.Issuer, o.Email, tx.Now)
	return err
}

const ownerColumns = `SELECT id, issuer, subject, COALESCE(email, ''), COALESCE(display_name, ''), active, created_at
	FROM users`

func scanOwner(r store.Row) (o Owner, err error) {
	err = r.Scan(&o.ID, &o.Issuer, &o.Subject, &o.Email, &o.Name, &o.Active, &o.Since)
	return o, err
}

// Owners returns at most limit owners, the newest first, and before them the
// invited ones: those with an e-mail address, or all when it is "".
func Owners(ctx context.Context, db *store.DB, email string, limit int) (all []Owner, err error) {
	defer fault.Wrap(&err, "list owners")
	var where store.Where
	if email != "" {
		where.And("email = ?", strings.ToLower(strings.TrimSpace(email)))
	}
	all, err = store.All(ctx, db, func(r store.Row) (o Owner, err error) {
		err = r.Scan(&o.Issuer, &o.Email, &o.Since)
		return o, err
	}, "SELECT issuer, email, created_at FROM invitation"+where.String()+
		" ORDER BY created_at DESC, issuer, email LIMIT ?", where.Args(limit)...)
	if err != nil {
		return nil, err
	}
	owners, err := store.All(ctx, db, scanOwner, ownerColumns+where.String()+" ORDER BY id DESC LIMIT ?",
		where.Args(limit-len(all))...)
	return append(all, owners...), err
}

// AnyOwner reports whether there is an owner or an invitation.
func AnyOwner(ctx context.Context, db *store.DB) (some bool, err error) {
	defer fault.Wrap(&err, "actor.AnyOwner")
	some, err = store.Exists(ctx, db, "SELECT 1 FROM users LIMIT 1")
	if err == nil && !some {
		some, err = store.Exists(ctx, db, "SELECT 1 FROM invitation LIMIT 1")
	}
	return some, err
}

var errNoOwner = errors.New("there is no such owner (see waymark users list)")

// ownerOf finds one owner by id or by e-mail address.
func ownerOf(ctx context.Context, q store.Q, which string) (Owner, error) {
	which = strings.TrimSpace(which)
	found, err := store.All(ctx, q, scanOwner, ownerColumns+" WHERE id = ? OR email = ? ORDER BY id LIMIT 2", which,
		strings.ToLower(which))
	switch {
	case err != nil:
		return Owner{}, err
	case len(found) == 0:
		return Owner{}, errNoOwner
	case len(found) > 1:
		return Owner{}, errors.New("several owners have this e-mail address: name one by its id (see waymark users " +
			"list)")
	}
	return found[0], nil
}

// SetActive disables an owner, named by id or e-mail address, or enables one
// again. Sessions and keys of a disabled owner are refused from the next
// request on. Disabling an e-mail address also withdraws its invitation, which
// alone is returned where there is no owner yet.
func SetActive(ctx context.Context, db *store.DB, which string, active bool) (o Owner, err error) {
	defer fault.Wrap(&err, "change owner")
	err = db.InTx(ctx, func(tx *store.Tx) (err error) {
		withdrawn := int64(0)
		email := strings.ToLower(strings.TrimSpace(which))
		if !active {
			if withdrawn, err = tx.Exec(ctx, "DELETE FROM invitation WHERE email = ?", email); err != nil {
				return err
			}
		}
		o, err = ownerOf(ctx, tx, which)
		if errors.Is(err, errNoOwner) && withdrawn > 0 {
			o = Owner{Email: email}
			return nil
		}
		if err != nil {
			return err
		}
		o.Active = active
		_, err = tx.Exec(ctx, "UPDATE users SET active = ?, updated_at = ? WHERE id = ?", active, tx.Now, o.ID)
		return err
	})
	return o, err
}
