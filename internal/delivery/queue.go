package delivery

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
)

// Topic is signalled when a delivery is due.
const Topic = "webhook"

// leaseTime is how long a leased delivery belongs to its dispatcher. If its
// dispatcher dies, the delivery is attempted again when the lease ends; the
// interrupted attempt is not counted.
const leaseTime = 20 * time.Second

// waits follow each failed attempt but the last (api-v1.md, Delivery rules).
var waits = []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second, 240 * time.Second}

// Due is a destination with deliveries that are due.
type Due struct {
	WebhookID string
	OwnerID   string // "" when the destination is gone
}

// FindDue returns at most n destinations with deliveries that are due, in the
// order of their ids after a given one, without those of some owners. It goes from
// destination to destination through the index, in one index probe each. (MIN, not
// EXISTS: PostgreSQL would plan EXISTS as a join over everything due.)
func FindDue(ctx context.Context, db *store.DB, after string, without []string, n int) (all []Due, err error) {
	defer fault.Wrap(&err, "delivery.FindDue(%s)", after)
	now := db.Now()
	// Nearly always nothing is due.
	if found, err := store.Exists(ctx, db, "SELECT 1 FROM webhook_delivery WHERE due_at <= ? LIMIT 1",
		now); err != nil || !found {
		return nil, err
	}
	var where store.Where
	where.And("(SELECT MIN(due_at) FROM webhook_delivery WHERE due_at IS NOT NULL AND webhook_id = owned.id) <= ?", now)
	for _, owner := range without {
		where.And("owner_id <> ?", owner)
	}
	return store.All(ctx, db, func(r store.Row) (d Due, err error) {
		err = r.Scan(&d.WebhookID, &d.OwnerID)
		return d, err
	}, `WITH RECURSIVE destination (id) AS (
			SELECT MIN(webhook_id) FROM webhook_delivery WHERE due_at IS NOT NULL AND webhook_id > ?
			UNION ALL
			SELECT (SELECT MIN(webhook_id) FROM webhook_delivery WHERE due_at IS NOT NULL
			AND webhook_id > destination.id)
			FROM destination WHERE id IS NOT NULL),
		owned (id, owner_id) AS (
			SELECT id, COALESCE((SELECT owner_id FROM webhook WHERE webhook.id = destination.id), '') FROM destination
			WHERE id IS NOT NULL)
		SELECT id, owner_id FROM owned`+where.String()+" LIMIT ?", append([]any{after}, where.Args(n)...)...)
}

// Leased is a delivery that a dispatcher is to attempt.
type Leased struct {
	ID              string
	WebhookRevision string // that it is bound to
	Event           Event
	// Trace is that of the transaction that added the delivery, for tracing.Tracer.Continue.
	Trace    string
	leaseNo  int64
	attempts int64 // before this one
}

// Lease marks at most n due deliveries of a destination as under way, the
// longest due first, as part of tx. The subquery that picks them is
// materialized: otherwise PostgreSQL may run it again for each row that the
// update looks at, and its limit would admit other rows each time. All get the
// same revision: revisions are compared only within a delivery.
func Lease(ctx context.Context, tx *store.Tx, webhookID string, n int64) (_ []Leased, err error) {
	defer fault.Wrap(&err, "delivery.Lease(%s)", webhookID)
	return store.All(ctx, tx, func(r store.Row) (l Leased, err error) {
		err = r.Scan(&l.ID, &l.WebhookRevision, &l.leaseNo, &l.attempts,
			&l.Event.ID, &l.Event.Type, &l.Event.AppID, &l.Event.ResourceID, &l.Event.Revision, &l.Event.OccurredAt, &l.Trace)
		return l, err
	}, `WITH picked AS MATERIALIZED (SELECT id FROM webhook_delivery WHERE webhook_id = ? AND due_at <= ?
		ORDER BY due_at, id LIMIT ?`+tx.Dialect().SkipLocked+`)
		UPDATE webhook_delivery SET state = ?, lease_no = lease_no + 1, due_at = ?, revision = ?, updated_at = ?
		WHERE id IN (SELECT id FROM picked)
		RETURNING id, webhook_revision, lease_no, attempts, event_id, event_type, app_id, resource_id, resource_revision, occurred_at,
			COALESCE(trace, '')`,
		webhookID, tx.Now, n, Delivering, tx.Now.Add(leaseTime), ids.Revision(), tx.Now)
}

// Record stores the outcome of an attempt, an HTTP status or 0 and a failure or
// nil, as part of tx. It reports whether the attempt counts: the delivery may
// have been cancelled meanwhile, or leased by another dispatcher.
func (l *Leased) Record(ctx context.Context, tx *store.Tx, httpStatus int,
	failure *outbound.Failure) (counts bool, err error) {
	defer fault.Wrap(&err, "delivery.Record(%s)", l.ID)
	state, due := Succeeded, any(nil)
	var status, code, message any
	if httpStatus != 0 {
		status = httpStatus
	}
	if failure != nil {
		code, message, state = failure.Code, failure.Message, Failed
		if int(l.attempts) < len(waits) {
			state, due = Pending, tx.Now.Add(waits[l.attempts])
		}
	}
	n, err := tx.Exec(ctx, `UPDATE webhook_delivery SET state = ?, attempts = attempts + 1, http_status = ?, error_code
		= ?, error_message = ?, due_at = ?,
		revision = ?, updated_at = ? WHERE id = ? AND lease_no = ? AND state = ?`,
		state, status, code, message, due, ids.Revision(), tx.Now, l.ID, l.leaseNo, Delivering)
	return n > 0, err
}

// TakeOver makes deliveries under way due at once. A dispatcher that is known
// to be the only one calls it when it starts: whoever leased them before is
// dead.
func TakeOver(ctx context.Context, db *store.DB) (err error) {
	defer fault.Wrap(&err, "delivery.TakeOver")
	_, err = db.Exec(ctx, "UPDATE webhook_delivery SET due_at = ? WHERE due_at > ? AND state = ?", db.Now(), db.Now(),
		Delivering)
	return err
}

// Depth returns how many deliveries are not over and since when the oldest is
// due.
func Depth(ctx context.Context, q store.Q) (n int64, oldest clock.Instant, err error) {
	defer fault.Wrap(&err, "delivery.Depth")
	_, err = store.One(ctx, q, func(r store.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&n, &oldest)
	}, "SELECT COUNT(*), COALESCE(MIN(due_at), 0) FROM webhook_delivery WHERE due_at IS NOT NULL")
	return n, oldest, err
}
