package delivery

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// messages tell the owner what a cancellation means.
var messages = map[string]string{
	Suspended:            "The destination was suspended after too many failures. Repair the receiver and enable the destination again.",
	AuthorizationLost:    "The credential that authorized the destination is no longer authorized. Enable the destination again with one that is.",
	ConfigurationChanged: "The destination was changed, disabled or deleted.",
}

// Cancel ends the deliveries of a webhook that are not over, as part of tx. One
// that is under way is ended too, and whatever comes of it is not recorded.
func Cancel(ctx context.Context, tx *store.Tx, webhookID, reason string) error {
	return cancel(ctx, tx, reason, "webhook_id = ?", webhookID)
}

// CancelWaiting is Cancel without the deliveries under way.
func CancelWaiting(ctx context.Context, tx *store.Tx, webhookID, reason string) error {
	return cancel(ctx, tx, reason, "webhook_id = ? AND state = 'pending'", webhookID)
}

// CancelOne ends one delivery that is not over, as part of tx.
func CancelOne(ctx context.Context, tx *store.Tx, id, reason string) error {
	return cancel(ctx, tx, reason, "id = ?", id)
}

// cancel gives all rows one revision: it is compared within a delivery only.
func cancel(ctx context.Context, tx *store.Tx, reason, condition string, args ...any) error {
	// What the attempts failed for is why a destination was suspended.
	_, err := tx.Exec(ctx, `UPDATE webhook_delivery SET state = 'cancelled', due_at = NULL, error_code = ?,
		error_message = CAST(? AS TEXT) || COALESCE(' The last attempt: ' || error_message, ''),
		revision = ?, updated_at = ? WHERE due_at IS NOT NULL AND `+condition,
		append([]any{reason, messages[reason], ids.Revision(), tx.Now}, args...)...)
	return err
}

// RemoveApp removes the destinations of an app that goes, as part of tx.
// Nothing more is sent; its deliveries go with the sweep.
func RemoveApp(ctx context.Context, tx *store.Tx, _, appID string) error {
	// First the destinations: who sends locks them before their deliveries.
	if _, err := tx.Exec(ctx, "UPDATE webhook SET enabled = FALSE WHERE app_id = ?", appID); err != nil {
		return err
	}
	if err := cancel(ctx, tx, ConfigurationChanged, "webhook_id IN (SELECT id FROM webhook WHERE app_id = ?)", appID); err != nil {
		return err
	}
	for _, statement := range []string{"DELETE FROM webhook_subscription WHERE app_id = ?", "DELETE FROM webhook WHERE app_id = ?"} {
		if _, err := tx.Exec(ctx, statement, appID); err != nil {
			return err
		}
	}
	return nil
}

// Retention is how long deliveries are kept.
const Retention = 7 * 24 * time.Hour

// Sweep removes at most limit deliveries that are over and older than
// Retention, and deleted webhooks that none refers to any more.
func Sweep(ctx context.Context, db *store.DB, limit int) (int64, error) {
	before := db.Now().Add(-Retention)
	n, err := db.Exec(ctx, `DELETE FROM webhook_delivery WHERE id IN
		(SELECT id FROM webhook_delivery WHERE due_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?)`, before, limit)
	if err != nil || n == int64(limit) {
		return n, err
	}
	_, err = db.Exec(ctx, `DELETE FROM webhook WHERE id IN (SELECT w.id FROM webhook w WHERE w.deleted_at < ?
		AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.webhook_id = w.id) ORDER BY w.deleted_at LIMIT ?)`, before, limit)
	return n, err
}
