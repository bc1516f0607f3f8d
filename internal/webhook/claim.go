package webhook

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
)

// claimed is a delivery that this process is to attempt.
type claimed struct {
	delivery.Leased
	// The outcome of the attempt.
	status  int
	failure *outbound.Failure
}

// claim leases at most n due deliveries of a destination, the longest due first,
// and returns them with the current destination. It cancels deliveries that must
// not be sent any more.
func claim(ctx context.Context, db *store.DB, webhookID string, n int) (w Webhook, all []claimed, err error) {
	defer fault.Wrap(&err, "webhook.claim(%s)", webhookID)
	err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		all = nil
		if err := lock(ctx, tx, webhookID); err != nil {
			return err
		}
		found, err := find(ctx, tx, webhookID, tx.Now)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		w = found
		reason, err := w.refuses(ctx, tx)
		if err != nil {
			return err
		}
		// Claim at most as many as may still fail before the destination is
		// suspended.
		leased, err := delivery.Lease(ctx, tx, webhookID, max(1, min(int64(n), maxFailures-w.ConsecutiveFailures)))
		if err != nil {
			return err
		}
		for _, l := range leased {
			switch {
			case reason != "":
				err = delivery.CancelOne(ctx, tx, l.ID, reason)
			case l.WebhookRevision != w.Revision:
				err = delivery.CancelOne(ctx, tx, l.ID, delivery.ConfigurationChanged)
			default:
				all = append(all, claimed{Leased: l})
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

// refuses returns why nothing may be sent to the destination, or "". It marks a
// destination whose authorization is lost.
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
	_, err = tx.Exec(ctx, "UPDATE webhook SET hold = ? WHERE id = ?", delivery.HoldAuthorization, w.ID)
	return delivery.AuthorizationLost, err
}

// record stores the outcomes of attempts, in the order in which the attempts
// ended. It leaves out deliveries that were cancelled meanwhile or whose lease
// ended: where one is left to count, its destination is as it was claimed, because
// every change of it cancels them.
func record(ctx context.Context, db *store.DB, w *Webhook, ended []claimed) (err error) {
	defer fault.Wrap(&err, "webhook.record(%s)", w.ID)
	return db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		if err := lock(ctx, tx, w.ID); err != nil {
			return err
		}
		var failures int64
		var lastSuccess, lastFailure *clock.Instant
		for _, c := range ended {
			stands, err := c.Record(ctx, tx, c.status, c.failure)
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

// count adds failures to the failures in a row, which a success resets first,
// and suspends the destination when they are too many.
func (w *Webhook) count(ctx context.Context, tx *store.Tx, failures int64, lastSuccess,
	lastFailure *clock.Instant) error {
	type counted struct {
		failures int64
		hold     string
	}
	now, err := store.One(ctx, tx, func(r store.Row) (c counted, err error) {
		err = r.Scan(&c.failures, &c.hold)
		return c, err
	}, `UPDATE webhook SET consecutive_failures = CASE WHEN ? THEN 0 ELSE consecutive_failures END + ?,
		last_success_at = COALESCE(?, last_success_at), last_failure_at = COALESCE(?, last_failure_at)
		WHERE id = ? RETURNING consecutive_failures, COALESCE(hold, '')`,
		lastSuccess != nil, failures, lastSuccess, lastFailure, w.ID)
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
