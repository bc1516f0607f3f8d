package webhook

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// Delivery is one event on its way to one destination.
type Delivery struct {
	ID              string            `json:"id" format:"uuid"`
	WebhookID       string            `json:"webhookId" format:"uuid"`
	AppID           string            `json:"appId"`
	EventID         string            `json:"eventId" format:"uuid"`
	EventType       DeliveredType     `json:"eventType"`
	Test            bool              `json:"test"`
	State           string            `json:"state" enum:"pending,delivering,succeeded,failed,cancelled"`
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

// Failure is why the last attempt did not succeed, or no other is made.
type Failure struct {
	Code    string `json:"code" enum:"timeout,connection_failed,tls_failed,dns_blocked,dns_failed,http_status,redirect_refused,authorization_lost,configuration_changed,suspended"`
	Message string `json:"message"`
}

// SchemaName implements schema.Named.
func (Failure) SchemaName() string { return "WebhookDeliveryError" }

// Position implements op.Positioned.
func (d Delivery) Position() cursor.Position { return cursor.Position{At: d.CreatedAt, ID: d.ID} }

func (d Delivery) ref() op.Ref {
	return op.Ref{Type: "webhook_delivery", ID: d.ID, AppID: d.AppID, Revision: d.Revision}
}

func (d Delivery) location() string { return op.Location("webhook-deliveries", d.ID) }

// terminal reports that nothing more is sent under this delivery.
func (d Delivery) terminal() bool { return d.State != "pending" && d.State != "delivering" }

const deliverySelection = `SELECT id, webhook_id, app_id, event_id, event_type, state, attempts, http_status, error_code, error_message, due_at,
	webhook_revision, revision, created_at, updated_at FROM webhook_delivery`

func scanDelivery(r store.Row) (d Delivery, err error) {
	var code, message *string
	var due *clock.Instant
	if err := r.Scan(&d.ID, &d.WebhookID, &d.AppID, &d.EventID, &d.EventType, &d.State, &d.Attempts, &d.HTTPStatus, &code, &message, &due,
		&d.WebhookRevision, &d.Revision, &d.CreatedAt, &d.UpdatedAt); err != nil {
		return d, err
	}
	d.Test = d.EventType == DeliveredType(delivery.Test)
	if code != nil {
		d.Error = opt.Of(Failure{Code: *code, Message: *message})
	}
	if d.State == "pending" { // under way it is the end of a lease
		d.NextAttemptAt = due
	}
	return d, nil
}

// loadDelivery returns a delivery, or the refusal of a missing one.
func loadDelivery(ctx context.Context, q store.Q, id string) (Delivery, error) {
	d, err := store.One(ctx, q, scanDelivery, deliverySelection+" WHERE id = ?", id)
	if err == store.ErrNotFound {
		err = fault.Missing()
	}
	return d, err
}

// appOfDelivery implements op.AppFinder.
func appOfDelivery(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM webhook_delivery WHERE id = ?", id)
}

type deliveriesInput struct {
	WebhookID string        `path:"webhookId"`
	State     string        `query:"state" enum:"pending,delivering,succeeded,failed,cancelled"`
	EventType DeliveredType `query:"eventType"`
}

func listDeliveries(ctx context.Context, c *op.Call, in *deliveriesInput, w op.Window) ([]Delivery, error) {
	var where store.Where
	where.And("webhook_id = ?", in.WebhookID)
	if in.State != "" {
		where.And("state = ?", in.State)
	}
	if in.EventType != "" {
		where.And("event_type = ?", string(in.EventType))
	}
	order := w.Keyset(&where, "created_at", "id", true)
	return store.All(ctx, c.DB, scanDelivery, deliverySelection+where.String()+order, where.Args(w.Limit)...)
}

type deliveryInput struct {
	DeliveryID string `path:"deliveryId"`
}

func getDelivery(ctx context.Context, c *op.Call, in *deliveryInput) (op.Item[Delivery], error) {
	d, err := loadDelivery(ctx, c.DB, in.DeliveryID)
	return op.Item[Delivery]{Data: d, Ref: d.ref()}, err
}

// RetryDelivery is the body of retryWebhookDeliveriesDeliveryId: an empty object.
type RetryDelivery struct{}

// SchemaName implements schema.Named.
func (RetryDelivery) SchemaName() string { return "WebhookDeliveryRetryRequest" }

type retryInput struct {
	DeliveryID string `path:"deliveryId"`
	Body       RetryDelivery
}

func (s *service) retry(ctx context.Context, c *op.Call, tx *store.Tx, in *retryInput) (op.Item[Delivery], error) {
	d, err := loadDelivery(ctx, tx, in.DeliveryID)
	if err != nil {
		return op.Item[Delivery]{}, err
	}
	if c.Stale(d.Revision) {
		return op.Item[Delivery]{}, fault.Stale()
	}
	if !d.terminal() {
		return op.Item[Delivery]{}, conflict("The delivery is %s. Wait until it has succeeded, failed or been cancelled.", d.State)
	}
	w, err := find(ctx, tx, d.WebhookID, tx.Now)
	if err == store.ErrNotFound {
		return op.Item[Delivery]{}, conflict("The destination was deleted. Nothing can be sent to it any more.")
	}
	if err != nil {
		return op.Item[Delivery]{}, err
	}
	e, err := store.One(ctx, tx, func(r store.Row) (e delivery.Event, err error) {
		err = r.Scan(&e.ID, &e.Type, &e.AppID, &e.ResourceID, &e.Revision, &e.OccurredAt)
		return e, err
	}, "SELECT event_id, event_type, app_id, resource_id, resource_revision, occurred_at FROM webhook_delivery WHERE id = ?", d.ID)
	if err != nil {
		return op.Item[Delivery]{}, err
	}
	return w.send(ctx, tx, e)
}
