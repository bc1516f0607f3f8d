package domain

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// prove gives a domain its hostname, as part of tx, and ends all other claims of it.
// It reports whether another domain proved the hostname first; then it changes
// nothing.
func (d *Domain) prove(ctx context.Context, tx *store.Tx) (lost bool, err error) {
	// Locked in one order, so that two claimants do not wait for each other.
	claims, err := store.All(ctx, tx, scan, selection+" WHERE hostname = ? AND NOT detached ORDER BY id"+
		tx.Dialect().LockRow, d.Hostname)
	if err != nil || slices.ContainsFunc(claims, func(c Domain) bool { return c.verifiedAt != nil }) {
		return true, err
	}
	d.verifiedAt = &tx.Now
	for _, c := range claims {
		if c.ID == d.ID {
			continue
		}
		if err := c.displace(ctx, tx); err != nil {
			return false, err
		}
	}
	if err := publication.Domains.Request(ctx, tx, d.ID); err != nil {
		return false, err
	}
	return false, enqueuePublish(ctx, tx, d)
}

// displace ends a claim whose hostname another domain proved, as part of tx. The
// redirector never knew of it.
func (d *Domain) displace(ctx context.Context, tx *store.Tx) error {
	failure, err := opt.NullOf(publication.Error{Code: displaced, Message: "Another domain proved that it owns the " +
		"hostname " + d.Hostname + ". This claim of it was removed.", At: tx.Now}).Column()
	if err != nil {
		return err
	}
	d.Revision = ids.Revision()
	if err := publication.Domains.Renew(ctx, tx, d.Revision, "id = ?", d.ID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE domain SET detached = TRUE, removal_state = ?, ownership = ?, last_error = ?,
		next_check_at = NULL WHERE id = ?`, Removed, OwnershipFailed, failure, d.ID); err != nil {
		return err
	}
	return delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.ref())
}

// lostClaim is the check of an ownership that another domain proved first.
func lostClaim(d *Domain) finding {
	return finding{Status: failed, Code: string(fault.ResourceConflict), Message: "Another domain proved first that it " +
		"owns the hostname " + d.Hostname + ", and holds it until it is detached."}
}

// proved is the check of an ownership that was proved before.
func proved(d *Domain) finding {
	if d.Mode == Platform {
		return finding{Status: passed, Message: "The hostname belongs to the platform zone of the installation."}
	}
	return finding{Status: passed, Message: "The ownership was proved at " + d.verifiedAt.String() + "."}
}
