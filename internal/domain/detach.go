package domain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// removalPoll is how often a removal looks whether the DNS provider has removed the
// records.
const removalPoll = time.Second

// keepers are what a domain cannot be detached from: links would stop working, and
// an app would give new links a hostname that is gone.
var keepers = []dependents.Query{
	{Type: "link", SQL: `SELECT l.id FROM domain d JOIN link l ON l.hostname = d.hostname AND l.app_id = d.app_id
		WHERE d.id = ?`},
	{Type: "app", SQL: `SELECT a.id FROM domain d JOIN app a ON a.id = d.app_id AND a.default_domain = d.hostname
		WHERE d.id = ?`},
}

// detach starts the removal of a domain. From here on no link can be made on it.
func detach(ctx context.Context, c *op.Call, tx *store.Tx, in *domainInput) (op.Item[durable.Operation], error) {
	none := op.Item[durable.Operation]{}
	d, err := load(ctx, tx, in.DomainID)
	if err != nil {
		return none, err
	}
	if c.Stale(d.Revision) {
		return none, fault.Stale()
	}
	if reason := d.undetachable(); reason != "" {
		return none, fault.New(fault.ResourceConflict, "%s", reason)
	}
	if err := dependents.Refuse(ctx, tx, d.ID, keepers...); err != nil {
		return none, err
	}
	if err := d.setRemoval(ctx, tx, RemovalPending); err != nil {
		return none, err
	}
	if d.Detached { // what the DNS provider did not remove is tried again
		if err := dnsrecord.RemoveAll(ctx, tx, d.ID); err != nil {
			return none, err
		}
	}
	started, err := durable.Start(ctx, c, tx, detachment.Type, d.AppID, d.ID)
	return started.Accepted(d.ref()), err
}

// gone tells why nothing of a domain can change any more; "" when it can.
func (d *Domain) gone() string {
	if reason := d.undetachable(); reason != "" || !d.Detached {
		return reason
	}
	return "The domain is detached; only its removal can be tried again."
}

// undetachable tells why a domain cannot be detached, whatever depends on it; "" when
// it can.
func (d *Domain) undetachable() string {
	switch d.RemovalState.Value {
	case RemovalPending, Removing:
		return "The domain is being detached already."
	case Removed:
		return "The domain is detached already."
	}
	return ""
}

// setRemoval stores how far the removal of a domain has come and tells the app.
func (d *Domain) setRemoval(ctx context.Context, tx *store.Tx, state Removal) error {
	if _, err := tx.Exec(ctx, "UPDATE domain SET removal_state = ? WHERE id = ?", state, d.ID); err != nil {
		return err
	}
	return delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.ref())
}

// detachment takes a domain away from visitors and sets its hostname free.
var detachment = durable.Work{Type: "domain.detach", Permission: "domains:delete", Next: finishDetachment,
	Ended: stopDetachment}

func finishDetachment(ctx context.Context, r *durable.Run) error {
	d, err := find(ctx, r.DB, r.Operation.ResourceID)
	if err != nil {
		return err
	}
	if !d.Detached {
		return r.InTx(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx) error { return d.release(ctx, tx) })
	}
	switch left, failed, err := dnsrecord.Remaining(ctx, r.DB, d.ID); {
	case err != nil:
		return err
	case failed > 0:
		return r.Finish(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx, o *durable.Operation) error {
			if err := d.setRemoval(ctx, tx, RemovalFailed); err != nil {
				return err
			}
			return o.Fail(ctx, tx, "dns_provider_failed", fmt.Sprintf("The DNS provider of this installation did not remove "+
				"%d sets of records. Detach the domain again later.", failed))
		})
	case left > 0:
		return r.Later(ctx, r.DB.Now().Add(removalPoll))
	}
	return r.FinishReadCommitted(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx, o *durable.Operation) error {
		if err := publish(ctx, tx, d.ID); err != nil {
			return err
		}
		// From now on the domain is only a record, which is kept from updated_at on.
		if _, err := tx.Exec(ctx, "UPDATE domain SET updated_at = ? WHERE id = ?", tx.Now, d.ID); err != nil {
			return err
		}
		if err := d.setRemoval(ctx, tx, Removed); err != nil {
			return err
		}
		return o.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: "domain", ID: d.ID}})
	})
}

// release sets the hostname of a domain free.
func (d *Domain) release(ctx context.Context, tx *store.Tx) error {
	d.Revision = ids.Revision()
	if _, err := tx.Exec(ctx, `UPDATE domain SET detached = TRUE, links = ?, next_check_at = NULL, revision = ?,
		updated_at = ? WHERE id = ?`, LinksBlocked, d.Revision, tx.Now, d.ID); err != nil {
		return err
	}
	if err := publication.Domains.Request(ctx, tx, d.ID); err != nil {
		return err
	}
	if err := enqueuePublish(ctx, tx, d); err != nil {
		return err
	}
	if err := dnsrecord.RemoveAll(ctx, tx, d.ID); err != nil {
		return err
	}
	return d.setRemoval(ctx, tx, Removing)
}

// stopDetachment settles a removal that ends otherwise. Before the hostname was set
// free, the domain stays as it was; after that it can be detached again, which does
// the rest.
func stopDetachment(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
	d, err := find(ctx, tx, o.ResourceID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if d.Detached {
		return d.setRemoval(ctx, tx, RemovalFailed)
	}
	if _, err := tx.Exec(ctx, "UPDATE domain SET removal_state = NULL WHERE id = ?", d.ID); err != nil {
		return err
	}
	return delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.ref())
}
