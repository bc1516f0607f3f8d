package delivery

import (
	"context"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Why a delivery was cancelled, as clients see it.
const (
	Suspended            = "suspended"
	AuthorizationLost    = "authorization_lost"
	ConfigurationChanged = "configuration_changed"
)

// messages explain each cancellation to the owner.
var messages = map[string]string{
	Suspended: "The destination was suspended after too many failures. Repair the receiver and enable the " +
		"destination again.",
	AuthorizationLost: "The credential that authorized the destination is no longer authorized. Enable the " +
		"destination again with a valid credential.",
	ConfigurationChanged: "The destination was changed, disabled or deleted.",
}

// Cancel ends the deliveries of a webhook that are not over, as part of tx. It
// also ends those under way; the outcome of their attempt is not recorded.
func Cancel(ctx context.Context, tx *store.Tx, webhookID, reason string) (err error) {
	defer fault.Wrap(&err, "delivery.Cancel(%s)", webhookID)
	return cancel(ctx, tx, reason, "webhook_id = ?", webhookID)
}

// CancelWaiting is Cancel without the deliveries under way.
func CancelWaiting(ctx context.Context, tx *store.Tx, webhookID, reason string) (err error) {
	defer fault.Wrap(&err, "delivery.CancelWaiting(%s)", webhookID)
	return cancel(ctx, tx, reason, "webhook_id = ? AND state = ?", webhookID, Pending)
}

// CancelApp is Cancel for all webhooks of an app.
func CancelApp(ctx context.Context, tx *store.Tx, appID, reason string) (err error) {
	defer fault.Wrap(&err, "delivery.CancelApp(%s)", appID)
	return cancel(ctx, tx, reason, "webhook_id IN (SELECT id FROM webhook WHERE app_id = ?)", appID)
}

// CancelOne ends one delivery that is not over, as part of tx.
func CancelOne(ctx context.Context, tx *store.Tx, id, reason string) (err error) {
	defer fault.Wrap(&err, "delivery.CancelOne(%s)", id)
	return cancel(ctx, tx, reason, "id = ?", id)
}

// cancel ends deliveries. All of them get the same revision: revisions are
// compared only within a delivery.
func cancel(ctx context.Context, tx *store.Tx, reason, condition string, args ...any) error {
	// The failure of the last attempt stays in the message: it says why a
	// destination was suspended.
	_, err := tx.Exec(ctx, `UPDATE webhook_delivery SET state = ?, due_at = NULL, error_code = ?,
		error_message = CAST(? AS TEXT) || COALESCE(' The last attempt: ' || error_message, ''),
		revision = ?, updated_at = ? WHERE due_at IS NOT NULL AND `+condition,
		append([]any{Cancelled, reason, messages[reason], ids.Revision(), tx.Now}, args...)...)
	return err
}
