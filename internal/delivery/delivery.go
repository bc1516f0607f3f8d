// Package delivery writes what webhooks tell about in the transaction of the
// change: a delivery exists exactly when its change does (api-v1.md, Webhook
// events).
//
// There is no queue of events that is fanned out later. A change looks up the
// destinations of its moment and leaves one delivery for each: nothing in
// between can lose or double one, a destination registered later gets nothing
// of before, and an app without destinations pays one look into an index.
// Package webhook owns the destinations and sends.
package delivery

import (
	"context"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Type of an event, as destinations select it.
type Type string

// The event types. Test is not selected: it is asked for.
const (
	LinkCreated                  Type = "link.created"
	LinkUpdated                  Type = "link.updated"
	LinkDeleted                  Type = "link.deleted"
	DomainStatusChanged          Type = "domain.status_changed"
	TemplatePublicationSucceeded Type = "template.publication_succeeded"
	TemplatePublicationFailed    Type = "template.publication_failed"
	OperationCompleted           Type = "operation.completed"
	OperationFailed              Type = "operation.failed"
	ExportReady                  Type = "export.ready"
	Test                         Type = "webhook.test"
)

// Selectable are the types that a destination may select.
var Selectable = []Type{
	LinkCreated, LinkUpdated, LinkDeleted, DomainStatusChanged, TemplatePublicationSucceeded, TemplatePublicationFailed,
	OperationCompleted, OperationFailed, ExportReady,
}

// Why nothing is sent to an enabled destination.
const (
	HoldSuspended     = "suspended"
	HoldAuthorization = "authorization_required"
)

// Why a delivery was cancelled, as clients see it.
const (
	Suspended            = "suspended"
	AuthorizationLost    = "authorization_lost"
	ConfigurationChanged = "configuration_changed"
)

// Topic is signalled when a delivery is due.
const Topic = "webhook"

// Event is what happened to one resource of an app.
type Event struct {
	ID         string
	Type       Type
	AppID      string
	ResourceID string
	Revision   string // the resource's; its last one when it is gone
	OccurredAt clock.Instant
}

// Destination is what a delivery is bound to: a webhook at a revision.
type Destination struct {
	ID       string
	Revision string
	Hold     string // "" when it is sent to
}

// Emit tells the destinations that selected a type about a resource, as part of
// tx.
func Emit(ctx context.Context, tx *store.Tx, t Type, appID, resourceID, revision string) error {
	to, err := store.All(ctx, tx, func(r store.Row) (d Destination, err error) {
		err = r.Scan(&d.ID, &d.Revision, &d.Hold)
		return d, err
	}, `SELECT w.id, w.revision, COALESCE(w.hold, '') FROM webhook_subscription s JOIN webhook w ON w.id = s.webhook_id
		WHERE s.app_id = ? AND s.type = ?`, appID, string(t))
	if err != nil || len(to) == 0 {
		return err
	}
	e := Event{ID: ids.New(), Type: t, AppID: appID, ResourceID: resourceID, Revision: revision, OccurredAt: tx.Now}
	// A larger --limit-scale admits more destinations than a statement.
	for some := range slices.Chunk(to, 50) {
		if _, err := deliver(ctx, tx, e, some); err != nil {
			return err
		}
	}
	return nil
}

// Deliver adds the delivery of an event to a destination as part of tx and
// returns its id. While the destination is on hold it is cancelled from the
// start: its owner sees what was missed and can have it sent later.
func Deliver(ctx context.Context, tx *store.Tx, e Event, to Destination) (id string, err error) {
	added, err := deliver(ctx, tx, e, []Destination{to})
	return added[0], err
}

const columns = `id, webhook_id, webhook_revision, app_id, event_id, event_type, resource_id, resource_revision,
	occurred_at, state, attempts, lease_no, error_code, error_message, due_at, revision, created_at, updated_at`

// deliver adds the deliveries of an event in one statement and returns their
// ids.
func deliver(ctx context.Context, tx *store.Tx, e Event, to []Destination) (added []string, err error) {
	var args []any
	for _, d := range to {
		state, due := "pending", any(tx.Now)
		var code, message any
		if d.Hold != "" {
			reason := Suspended
			if d.Hold == HoldAuthorization {
				reason = AuthorizationLost
			}
			state, due, code, message = "cancelled", nil, reason, messages[reason]
		}
		added = append(added, ids.New())
		args = append(args, added[len(added)-1], d.ID, d.Revision, e.AppID, e.ID, string(e.Type), e.ResourceID, e.Revision,
			e.OccurredAt, state, code, message, due, ids.Revision(), tx.Now, tx.Now)
	}
	const row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?)"
	_, err = tx.Exec(ctx, "INSERT INTO webhook_delivery ("+columns+") VALUES "+row+strings.Repeat(", "+row, len(to)-1), args...)
	tx.Signal(Topic)
	return added, err
}
