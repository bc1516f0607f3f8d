package webhook

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// lease is how long a claimed delivery belongs to its dispatcher. One whose
	// dispatcher is gone is attempted again after it, and the attempt that
	// nobody knows the end of does not count.
	lease = 20 * time.Second
	// batch is how many deliveries of a destination are claimed at a time.
	batch = 10
)

// waits follow each failed attempt but the last (api-v1.md, Delivery rules).
var waits = []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second, 240 * time.Second}

// claimed is a delivery that this process is to attempt.
type claimed struct {
	id       string
	revision string // the webhook's that it is bound to
	leaseNo  int64
	attempts int64 // before this one
	event    delivery.Event

	// What came of it.
	status  int
	failure *outbound.Failure
}

// destination is one with deliveries that are due.
type destination struct{ id, owner string }

// due returns at most n destinations with deliveries that are due, in the
// order of their ids after a given one. It goes from destination to
// destination through the index, however many deliveries each of them has:
// MIN, where EXISTS would have PostgreSQL join all that is due.
func due(ctx context.Context, db *store.DB, after string, n int) ([]destination, error) {
	now := db.Now()
	// Nearly always nothing is.
	if found, err := store.Exists(ctx, db, "SELECT 1 FROM webhook_delivery WHERE due_at <= ? LIMIT 1", now); err != nil || !found {
		return nil, err
	}
	return store.All(ctx, db, func(r store.Row) (d destination, err error) {
		err = r.Scan(&d.id, &d.owner)
		return d, err
	}, `WITH RECURSIVE destination (id) AS (
			SELECT MIN(webhook_id) FROM webhook_delivery WHERE due_at IS NOT NULL AND webhook_id > ?
			UNION ALL
			SELECT (SELECT MIN(webhook_id) FROM webhook_delivery WHERE due_at IS NOT NULL AND webhook_id > destination.id)
			FROM destination WHERE id IS NOT NULL)
		SELECT id, COALESCE((SELECT owner_id FROM webhook WHERE webhook.id = destination.id), '') FROM destination WHERE id IS NOT NULL
			AND (SELECT MIN(due_at) FROM webhook_delivery WHERE due_at IS NOT NULL AND webhook_id = destination.id) <= ? LIMIT ?`, after, now, n)
}

// claim leases due deliveries of a destination, the longest due first, and
// returns them with the destination as it is. It cancels what is not to be
// sent any more.
func claim(ctx context.Context, db *store.DB, webhookID string) (w Webhook, all []claimed, err error) {
	defer fault.Wrap(&err, "webhook.claim(%s)", webhookID)
	err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		all = nil
		if err := lock(ctx, tx, webhookID); err != nil {
			return err
		}
		found, err := find(ctx, tx, webhookID, tx.Now)
		if err != nil && err != store.ErrNotFound {
			return err
		}
		w = found
		reason, err := w.refuses(ctx, tx)
		if err != nil {
			return err
		}
		// No more than may fail before the destination is suspended.
		leased, err := leaseDue(ctx, tx, webhookID, max(1, min(batch, maxFailures-w.ConsecutiveFailures)))
		if err != nil {
			return err
		}
		for _, c := range leased {
			switch {
			case reason != "":
				err = delivery.CancelOne(ctx, tx, c.id, reason)
			case c.revision != w.Revision:
				err = delivery.CancelOne(ctx, tx, c.id, delivery.ConfigurationChanged)
			default:
				all = append(all, c)
			}
			if err != nil {
				return err
			}
		}
		if reason == "" {
			return nil
		}
		return delivery.CancelWaiting(ctx, tx, webhookID, reason)
	})
	return w, all, err
}

// leaseDue marks due deliveries as under way. They are picked first, and
// materialized: PostgreSQL may run a subquery again for each row that the update
// looks at, and each time its limit would admit others. They get one
// revision: it is compared within a delivery only.
func leaseDue(ctx context.Context, tx *store.Tx, webhookID string, n int64) ([]claimed, error) {
	return store.All(ctx, tx, func(r store.Row) (c claimed, err error) {
		err = r.Scan(&c.id, &c.revision, &c.leaseNo, &c.attempts, &c.event.ID, &c.event.Type, &c.event.AppID, &c.event.ResourceID, &c.event.Revision, &c.event.OccurredAt)
		return c, err
	}, `WITH picked AS MATERIALIZED (SELECT id FROM webhook_delivery WHERE webhook_id = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`+tx.Dialect().SkipLocked+`)
		UPDATE webhook_delivery SET state = 'delivering', lease_no = lease_no + 1, due_at = ?, revision = ?, updated_at = ?
		WHERE id IN (SELECT id FROM picked)
		RETURNING id, webhook_revision, lease_no, attempts, event_id, event_type, app_id, resource_id, resource_revision, occurred_at`,
		webhookID, tx.Now, n, tx.Now.Add(lease), ids.Revision(), tx.Now)
}

// refuses returns why nothing may be sent to the destination, "" when it may.
// One whose authorization is lost is marked so.
func (w *Webhook) refuses(ctx context.Context, tx *store.Tx) (reason string, err error) {
	switch {
	case !w.Enabled: // or gone
		return delivery.ConfigurationChanged, nil
	case w.hold == delivery.HoldSuspended:
		return delivery.Suspended, nil
	case w.hold != "":
		return delivery.AuthorizationLost, nil
	}
	holds, err := w.authorized(ctx, tx, tx.Now)
	if err != nil || holds {
		return "", err
	}
	_, err = tx.Exec(ctx, "UPDATE webhook SET hold = ? WHERE id = ? AND revision = ?", delivery.HoldAuthorization, w.ID, w.Revision)
	return delivery.AuthorizationLost, err
}

// record stores what came of attempts, in the order in which they ended. It
// leaves out those that were cancelled meanwhile or whose lease ended.
func record(ctx context.Context, db *store.DB, w *Webhook, ended []claimed) (err error) {
	defer fault.Wrap(&err, "webhook.record(%s)", w.ID)
	return db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		if err := lock(ctx, tx, w.ID); err != nil {
			return err
		}
		var failures int64
		var lastSuccess, lastFailure *clock.Instant
		for _, c := range ended {
			stands, err := c.record(ctx, tx)
			if err != nil {
				return err
			}
			switch {
			case !stands:
			case c.failure == nil:
				failures, lastSuccess = 0, &tx.Now
			default:
				failures, lastFailure = failures+1, &tx.Now
			}
		}
		if lastSuccess == nil && lastFailure == nil {
			return nil
		}
		return w.count(ctx, tx, failures, lastSuccess, lastFailure)
	})
}

// record stores what came of an attempt and reports whether it still counts.
func (c *claimed) record(ctx context.Context, tx *store.Tx) (stands bool, err error) {
	state, due := "succeeded", any(nil)
	var status, code, message any
	if c.status != 0 {
		status = c.status
	}
	if c.failure != nil {
		code, message, state = c.failure.Code, c.failure.Message, "failed"
		if int(c.attempts) < len(waits) {
			state, due = "pending", tx.Now.Add(waits[c.attempts])
		}
	}
	n, err := tx.Exec(ctx, `UPDATE webhook_delivery SET state = ?, attempts = attempts + 1, http_status = ?, error_code = ?, error_message = ?, due_at = ?,
		revision = ?, updated_at = ? WHERE id = ? AND lease_no = ? AND state = 'delivering'`,
		state, status, code, message, due, ids.Revision(), tx.Now, c.id, c.leaseNo)
	return n > 0, err
}

// count adds failures, after a success if there was one, to those in a row and
// suspends the destination when they are too many.
func (w *Webhook) count(ctx context.Context, tx *store.Tx, failures int64, lastSuccess, lastFailure *clock.Instant) error {
	type counted struct {
		failures int64
		hold     string
	}
	now, err := store.One(ctx, tx, func(r store.Row) (c counted, err error) {
		err = r.Scan(&c.failures, &c.hold)
		return c, err
	}, `UPDATE webhook SET consecutive_failures = CASE WHEN ? THEN 0 ELSE consecutive_failures END + ?,
		last_success_at = COALESCE(?, last_success_at), last_failure_at = COALESCE(?, last_failure_at)
		WHERE id = ? AND revision = ? RETURNING consecutive_failures, COALESCE(hold, '')`,
		lastSuccess != nil, failures, lastSuccess, lastFailure, w.ID, w.Revision)
	if err == store.ErrNotFound {
		return nil // changed meanwhile
	}
	if err != nil || now.failures < maxFailures && now.hold == "" {
		return err
	}
	if now.hold == delivery.HoldAuthorization {
		return delivery.CancelWaiting(ctx, tx, w.ID, delivery.AuthorizationLost)
	}
	if _, err := tx.Exec(ctx, "UPDATE webhook SET hold = ? WHERE id = ?", delivery.HoldSuspended, w.ID); err != nil {
		return err
	}
	return delivery.CancelWaiting(ctx, tx, w.ID, delivery.Suspended)
}

// Depth returns how many deliveries are not over and since when the oldest is
// due.
func Depth(ctx context.Context, q store.Q) (n int64, oldest clock.Instant, err error) {
	return jobs.DepthOf(ctx, q, "SELECT COUNT(*), COALESCE(MIN(due_at), 0) FROM webhook_delivery WHERE due_at IS NOT NULL")
}

// TakeOver makes deliveries under way due at once: for the start of a
// dispatcher that is known to be the only one, whose predecessor therefore is
// no more.
func TakeOver(ctx context.Context, db *store.DB) error {
	_, err := db.Exec(ctx, "UPDATE webhook_delivery SET due_at = ? WHERE due_at > ? AND state = 'delivering'", db.Now(), db.Now())
	return err
}
