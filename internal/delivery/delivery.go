// Package delivery owns deliveries: one event each on its way to one destination
// (api-v1.md, Webhook events), with their states and the queue that they form, and
// the subscriptions by which events find their destinations. Package webhook owns
// the destinations and sends.
//
// A delivery is written in the transaction of the change: it exists exactly
// when its change does. There is no queue of events that is fanned out later. A
// change looks up the destinations that exist at that moment and writes one
// delivery for each: nothing in between can lose or double a delivery, a
// destination registered later gets no earlier events, and an app without
// destinations pays one look into an index.
//
// Deliveries are not jobs, though they are leased like those. A dispatcher
// takes them destination by destination, the longest due first, and each owner
// has a bounded number of places; jobs are shared out among apps. A delivery is
// bound to a revision of its destination and is cancelled with it, many at
// once. And a delivery stays when it is over, so that its owner can read it and
// send it again; a job is removed.
package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// Retention is how long deliveries are kept.
const Retention = 7 * 24 * time.Hour

// State is how far a delivery has come. A pending one waits for its next attempt,
// a delivering one is under way; the others are over.
type State string

// The states of a delivery.
const (
	Pending    State = "pending"
	Delivering State = "delivering"
	Succeeded  State = "succeeded"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

// Schema implements schema.Provider.
func (State) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(Pending, Delivering, Succeeded, Failed, Cancelled)
}

// Delivery is one event on its way to one destination.
type Delivery struct {
	ID              string            `json:"id" format:"uuid"`
	WebhookID       string            `json:"webhookId" format:"uuid"`
	AppID           string            `json:"appId"`
	EventID         string            `json:"eventId" format:"uuid"`
	EventType       Type              `json:"eventType"`
	Test            bool              `json:"test"`
	State           State             `json:"state"`
	Attempts        int64             `json:"attempts" doc:"How many attempts have ended; the one under way is not counted."`
	HTTPStatus      *int64            `json:"httpStatus" doc:"The status of the last answer; null when there was none."`
	Error           opt.Null[Failure] `json:"error"`
	NextAttemptAt   *clock.Instant    `json:"nextAttemptAt" format:"date-time"`
	WebhookRevision string            `json:"webhookRevision" format:"uuid"`
	Revision        string            `json:"revision" format:"uuid"`
	CreatedAt       clock.Instant     `json:"createdAt" format:"date-time"`
	UpdatedAt       clock.Instant     `json:"updatedAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Delivery) SchemaName() string { return "WebhookDelivery" }

// Failure says why the last attempt did not succeed, or why no further attempt
// is made.
type Failure struct {
	Code    string `json:"code" enum:"timeout,connection_failed,tls_failed,dns_blocked,dns_failed,http_status,redirect_refused,authorization_lost,configuration_changed,suspended"`
	Message string `json:"message"`
}

// SchemaName implements schema.Named.
func (Failure) SchemaName() string { return "WebhookDeliveryError" }

// Position implements op.Positioned.
func (d Delivery) Position() cursor.Position { return cursor.Position{At: d.CreatedAt, ID: d.ID} }

// Ref names the delivery for audit.
func (d Delivery) Ref() op.Ref {
	return op.Ref{Type: "webhook_delivery", ID: d.ID, AppID: d.AppID, Revision: d.Revision}
}

// Location is where the delivery is read.
func (d Delivery) Location() string { return op.Location("webhook-deliveries", d.ID) }

// Over reports whether the delivery is over: nothing more is sent under it.
func (d Delivery) Over() bool { return d.State != Pending && d.State != Delivering }

const selection = `SELECT id, webhook_id, app_id, event_id, event_type, state, attempts, http_status, error_code,
	error_message, due_at,
	webhook_revision, revision, created_at, updated_at FROM webhook_delivery`

func scan(r store.Row) (d Delivery, err error) {
	var code, message *string
	var due *clock.Instant
	if err := r.Scan(&d.ID, &d.WebhookID, &d.AppID, &d.EventID, &d.EventType, &d.State, &d.Attempts, &d.HTTPStatus,
		&code, &message, &due,
		&d.WebhookRevision, &d.Revision, &d.CreatedAt, &d.UpdatedAt); err != nil {
		return d, err
	}
	d.Test = d.EventType == Test
	if code != nil {
		d.Error = opt.NullOf(Failure{Code: *code, Message: opt.Text(message)})
	}
	if d.State == Pending { // under way it is the end of a lease
		d.NextAttemptAt = due
	}
	return d, nil
}

// Load returns a delivery, or the refusal of a missing one.
func Load(ctx context.Context, q store.Q, id string) (_ Delivery, err error) {
	defer fault.Wrap(&err, "delivery.Load(%s)", id)
	d, err := store.One(ctx, q, scan, selection+" WHERE id = ?", id)
	if errors.Is(err, store.ErrNotFound) {
		err = fault.Missing()
	}
	return d, err
}

// EventOf returns the event of a delivery.
func EventOf(ctx context.Context, q store.Q, id string) (_ Event, err error) {
	defer fault.Wrap(&err, "delivery.EventOf(%s)", id)
	return store.One(ctx, q, func(r store.Row) (e Event, err error) {
		err = r.Scan(&e.ID, &e.Type, &e.AppID, &e.ResourceID, &e.Revision, &e.OccurredAt)
		return e, err
	}, `SELECT event_id, event_type, app_id, resource_id, resource_revision, occurred_at FROM webhook_delivery
		WHERE id = ?`, id)
}

// AppOf implements op.AppFinder.
func AppOf(ctx context.Context, q store.Q, id string) (_ string, err error) {
	defer fault.Wrap(&err, "delivery.AppOf(%s)", id)
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM webhook_delivery WHERE id = ?", id)
}

// Filter chooses deliveries; an empty field does not restrict.
type Filter struct {
	State     State `query:"state" heavy:"true"`
	EventType Type  `query:"eventType" heavy:"true"`
}

// List returns a page of the deliveries of a destination, the newest first.
func List(ctx context.Context, q store.Q, webhookID string, f Filter, w op.Window) (_ []Delivery, err error) {
	defer fault.Wrap(&err, "delivery.List(%s)", webhookID)
	var where store.Where
	where.And("webhook_id = ?", webhookID)
	if f.State != "" {
		where.And("state = ?", f.State)
	}
	if f.EventType != "" {
		where.And("event_type = ?", f.EventType)
	}
	chosen := w.Choose("webhook_delivery", &where, "created_at", "id", true)
	return store.All(ctx, q, scan, selection+chosen, where.Args(w.Limit)...)
}

// Sweep removes at most limit deliveries that are over and older than Retention.
func Sweep(ctx context.Context, db *store.DB, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "delivery.Sweep")
	return db.Exec(ctx, `DELETE FROM webhook_delivery WHERE id IN
		(SELECT id FROM webhook_delivery WHERE due_at IS NULL AND created_at < ? ORDER BY created_at
		LIMIT ?)`, db.Now().Add(-Retention), limit)
}
