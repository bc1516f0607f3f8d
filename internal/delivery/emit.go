package delivery

import (
	"context"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Why nothing is sent to an enabled destination.
const (
	HoldSuspended     = "suspended"
	HoldAuthorization = "authorization_required"
)

// Destination is what a delivery is bound to: a webhook at a revision.
type Destination struct {
	ID       string
	Revision string
	Hold     string // "" when it is sent to
}

// Subscribe sets the types of an app's events that a destination gets, as part
// of tx.
func Subscribe(ctx context.Context, tx *store.Tx, webhookID, appID string, types ...Type) (err error) {
	defer fault.Wrap(&err, "delivery.Subscribe(%s)", webhookID)
	if _, err := tx.Exec(ctx, "DELETE FROM webhook_subscription WHERE webhook_id = ?", webhookID); err != nil {
		return err
	}
	for _, t := range types {
		if _, err := tx.Exec(ctx, "INSERT INTO webhook_subscription (app_id, type, webhook_id) VALUES (?, ?, ?)", appID,
			t, webhookID); err != nil {
			return err
		}
	}
	return nil
}

// UnsubscribeApp ends the subscriptions of an app's destinations, as part of tx.
func UnsubscribeApp(ctx context.Context, tx *store.Tx, appID string) (err error) {
	defer fault.Wrap(&err, "delivery.UnsubscribeApp(%s)", appID)
	_, err = tx.Exec(ctx, "DELETE FROM webhook_subscription WHERE app_id = ?", appID)
	return err
}

// Emit adds a delivery of what happened to a resource for each destination that selected
// such events, as part of tx.
func Emit(ctx context.Context, tx *store.Tx, t Type, of op.Ref) (err error) {
	defer fault.Wrap(&err, "delivery.Emit(%s, %s)", t, of.ID)
	to, err := store.All(ctx, tx, func(r store.Row) (d Destination, err error) {
		err = r.Scan(&d.ID, &d.Revision, &d.Hold)
		return d, err
	}, `SELECT w.id, w.revision, COALESCE(w.hold, '') FROM webhook_subscription s JOIN webhook w ON w.id = s.webhook_id
		WHERE s.app_id = ? AND s.type = ?`, of.AppID, t)
	if err != nil || len(to) == 0 {
		return err
	}
	e := Event{ID: ids.New(), Type: t, AppID: of.AppID, ResourceID: of.ID, Revision: of.Revision, OccurredAt: tx.Now}
	// A larger --limit-scale admits more destinations than a statement.
	for some := range slices.Chunk(to, 50) {
		if _, err := deliver(ctx, tx, e, some); err != nil {
			return err
		}
	}
	return nil
}

// Deliver adds the delivery of an event to a destination as part of tx and
// returns its id. While the destination is on hold, the delivery is cancelled
// from the start: the owner sees what was missed and can have it sent later.
func Deliver(ctx context.Context, tx *store.Tx, e Event, to Destination) (id string, err error) {
	defer fault.Wrap(&err, "delivery.Deliver(%s, %s)", e.Type, to.ID)
	added, err := deliver(ctx, tx, e, []Destination{to})
	return added[0], err
}

const columns = `id, webhook_id, webhook_revision, app_id, event_id, event_type, resource_id, resource_revision,
	occurred_at, state, attempts, lease_no, error_code, error_message, due_at, revision, created_at, updated_at`

// deliver adds one event's deliveries in one statement and returns their ids.
func deliver(ctx context.Context, tx *store.Tx, e Event, to []Destination) (added []string, err error) {
	var args []any
	for _, d := range to {
		state, due := Pending, any(tx.Now)
		var code, message any
		if d.Hold != "" {
			reason := Suspended
			if d.Hold == HoldAuthorization {
				reason = AuthorizationLost
			}
			state, due, code, message = Cancelled, nil, reason, messages[reason]
		}
		added = append(added, ids.New())
		args = append(args, added[len(added)-1], d.ID, d.Revision, e.AppID, e.ID, e.Type, e.ResourceID, e.Revision,
			e.OccurredAt, state, code, message, due, ids.Revision(), tx.Now, tx.Now, store.NullString(tx.Trace()))
	}
	const row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)"
	_, err = tx.Exec(ctx, "INSERT INTO webhook_delivery ("+columns+", trace) VALUES "+row+strings.Repeat(", "+row, len(to)-1),
		args...)
	tx.Signal(Topic)
	return added, err
}
