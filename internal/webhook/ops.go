package webhook

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// service holds what the operations need besides the call.
type service struct{ client *outbound.Client }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, client *outbound.Client) part.Part {
	h := &service{client}
	describe(p)
	app, appOfDelivery := op.AppOf("webhookId", appOf), op.AppOf("deliveryId", delivery.AppOf)
	op.List(p, op.Op{ID: "getWebhooks", Method: "GET", Path: "/webhooks", Perm: "webhooks:read", App: op.AppInQuery,
		Summary: "List webhooks"}, h.list)
	op.Write(p, op.Op{ID: "createWebhooks", Method: "POST", Path: "/webhooks", Perm: permission, App: op.AppInBody,
		ETag: true, Summary: "Create a webhook", Doc: "Events are sent as long as the credential of this call stays " +
			"authorized, so register with an API key: a session ends within hours. Only this answer shows the secret."},
		h.create)
	op.Read(p, op.Op{ID: "getWebhooksWebhookId", Method: "GET", Path: "/webhooks/{webhookId}", Perm: "webhooks:read",
		App: app, Summary: "Get a webhook"}, h.get)
	op.Write(p, op.Op{ID: "updateWebhooksWebhookId", Method: "PATCH", Path: "/webhooks/{webhookId}",
		Perm: "webhooks:update", App: app, IfMatch: op.IfMatchRequired, Summary: "Update a webhook",
		Doc: "Only the fields sent change. enabled: true, another url and other events authorize the destination with " +
			"the credential of this call, which needs webhooks:create. enabled: true also ends a suspension. Pending " +
			"deliveries are cancelled."}, h.update)
	op.Write(p, op.Op{ID: "deleteWebhooksWebhookId", Method: "DELETE", Path: "/webhooks/{webhookId}",
		Perm: "webhooks:delete", App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a webhook",
		Doc: "Its deliveries can be read for seven days."}, h.remove)
	op.Write(p, op.Op{ID: "rotateSecretWebhooksWebhookId", Method: "POST", Path: "/webhooks/{webhookId}/rotate-secret",
		Perm: "webhooks:rotate_secret", App: app, IfMatch: op.IfMatchRequired, ETag: true, Status: 200,
		Summary: "Rotate the signing secret of a webhook", Doc: "For overlapSeconds each delivery is signed with the " +
			"old secret too. Only this answer shows the new one. Pending deliveries are cancelled."}, h.rotate)
	op.Write(p, op.Op{ID: "testWebhooksWebhookId", Method: "POST", Path: "/webhooks/{webhookId}/test",
		Perm: "webhooks:test", App: app, IfMatch: op.IfMatchOptional, Status: 202,
		Summary: "Send a test event to a webhook"}, h.test)
	op.List(p, op.Op{ID: "getWebhooksWebhookIdDeliveries", Method: "GET", Path: "/webhooks/{webhookId}/deliveries",
		Perm: "webhooks:read", App: op.AppOf("webhookId", appOfAny), Summary: "List the deliveries of a webhook",
		Doc: "The deliveries of the last seven days, also of a deleted destination."}, listDeliveries)
	op.Read(p, op.Op{ID: "getWebhookDeliveriesDeliveryId", Method: "GET", Path: "/webhook-deliveries/{deliveryId}",
		Perm: "webhooks:read", App: appOfDelivery, Summary: "Get a webhook delivery"}, getDelivery)
	op.Write(p, op.Op{ID: "retryWebhookDeliveriesDeliveryId", Method: "POST",
		Path: "/webhook-deliveries/{deliveryId}/retry", Perm: "webhooks:retry", App: appOfDelivery,
		IfMatch: op.IfMatchRequired, Status: 202, Summary: "Retry a webhook delivery",
		Doc: "Makes a new delivery of the same event to the destination as it is now. The earlier delivery must have " +
			"succeeded, failed or been cancelled."}, h.retry)
	return part.Part{
		Name: "webhook", Sweeps: []part.Sweep{{Name: "webhook deliveries", Run: Sweep}},
		OfApp: part.OfApp{Tables: []string{"webhook", "webhook_subscription", "webhook_delivery"}, Remove: RemoveApp},
	}
}

type listInput struct {
	AppID string `query:"appId" required:"true" maxLength:"500"`
}

func (s *service) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Webhook, error) {
	all, err := list(ctx, c, in.AppID, w)
	for i := range all {
		if err == nil {
			err = all[i].refresh(ctx, c)
		}
	}
	return all, err
}

// CreateWebhook is the body of createWebhooks.
type CreateWebhook struct {
	AppID       string               `json:"appId" minLength:"1" maxLength:"500"`
	URL         string               `json:"url" minLength:"1" maxLength:"4096" example:"https://hooks.example.com/waymark" doc:"HTTPS on port 443 of a public host, without user, password or fragment."`
	Events      []EventType          `json:"events" minItems:"1" uniqueItems:"true"`
	Description opt.Null[text.Block] `json:"description,omitzero" maxLength:"500"`
	Enabled     opt.Opt[bool]        `json:"enabled,omitzero" doc:"Default true."`
}

// SchemaName implements schema.Named.
func (CreateWebhook) SchemaName() string { return "WebhookCreate" }

func (s *service) create(ctx context.Context, c *op.Call, tx *store.Tx,
	in *struct{ Body CreateWebhook }) (op.Item[Issued], error) {
	w := Webhook{AppID: in.Body.AppID, URL: in.Body.URL, Events: in.Body.Events, Enabled: in.Body.Enabled.Or(true)}
	opt.Into(in.Body.Description, &w.Description)
	if err := s.client.Check("/url", w.URL); err != nil {
		return op.Item[Issued]{}, err
	}
	n, err := Count(ctx, tx, w.AppID)
	if err != nil {
		return op.Item[Issued]{}, err
	}
	if limit := c.Scaled(MaxPerApp); n >= limit {
		return op.Item[Issued]{}, conflict("The app has %d destinations, and at most %d are allowed. Delete one first.",
			n, limit)
	}
	w.authorize(c.Actor)
	err = insert(ctx, tx, &w)
	return op.Item[Issued]{Data: Issued{Webhook: w, Secret: w.secret}, Ref: w.ref(), Location: w.location(),
		Secret: true}, err
}

type webhookInput struct {
	WebhookID string `path:"webhookId"`
}

func (s *service) get(ctx context.Context, c *op.Call, in *webhookInput) (op.Item[Webhook], error) {
	w, err := load(ctx, c.DB, in.WebhookID, c.Now)
	if err == nil {
		err = w.refresh(ctx, c)
	}
	return op.Item[Webhook]{Data: w, Ref: w.ref()}, err
}

// UpdateWebhook is the body of updateWebhooksWebhookId.
type UpdateWebhook struct {
	URL         opt.Opt[string]      `json:"url,omitzero" minLength:"1" maxLength:"4096" doc:"HTTPS on port 443 of a public host, without user, password or fragment. Another one than before authorizes the destination with the credential of this call, which needs webhooks:create."`
	Events      opt.Opt[[]EventType] `json:"events,omitzero" minItems:"1" uniqueItems:"true" doc:"Other events than before authorize the destination with the credential of this call, which needs webhooks:create."`
	Description opt.Null[text.Block] `json:"description,omitzero" maxLength:"500"`
	Enabled     opt.Opt[bool]        `json:"enabled,omitzero" example:"true" doc:"true also authorizes the destination with the credential of this call, which needs webhooks:create, and ends a suspension."`
}

// SchemaName implements schema.Named.
func (UpdateWebhook) SchemaName() string { return "WebhookPatch" }

type updateInput struct {
	WebhookID string `path:"webhookId"`
	Body      UpdateWebhook
}

func (s *service) update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[Webhook], error) {
	w, err := current(ctx, c, tx, in.WebhookID)
	if err != nil {
		return op.Item[Webhook]{}, err
	}
	enables := in.Body.Enabled.Or(false)
	authorizes := enables || w.redirects(&in.Body)
	if authorizes && !c.Actor.May(permission, false) {
		return op.Item[Webhook]{}, fault.New(fault.InsufficientPermission, "The key does not hold the permission %s, "+
			"which enabling a destination and changing its address or events needs.", permission)
	}
	if in.Body.URL.Set {
		w.URL = in.Body.URL.Value
		if err := s.client.Check("/url", w.URL); err != nil {
			return op.Item[Webhook]{}, err
		}
	}
	w.Events = in.Body.Events.Or(w.Events)
	opt.Into(in.Body.Description, &w.Description)
	w.Enabled = in.Body.Enabled.Or(w.Enabled)
	if authorizes {
		w.authorize(c.Actor)
	}
	if enables {
		w.resume()
	}
	err = save(ctx, tx, &w)
	return op.Item[Webhook]{Data: w, Ref: w.ref()}, err
}

func (s *service) remove(ctx context.Context, c *op.Call, tx *store.Tx, in *webhookInput) (op.Item[op.Nothing], error) {
	w, err := current(ctx, c, tx, in.WebhookID)
	if err == nil {
		err = remove(ctx, tx, &w)
	}
	return op.Removed(w.ref()), err
}

// RotateSecret is the body of rotateSecretWebhooksWebhookId.
type RotateSecret struct {
	OverlapSeconds int64 `json:"overlapSeconds" minimum:"0" maximum:"86400"`
}

// SchemaName implements schema.Named.
func (RotateSecret) SchemaName() string { return "WebhookSecretRotateRequest" }

type rotateInput struct {
	WebhookID string `path:"webhookId"`
	Body      RotateSecret
}

func (s *service) rotate(ctx context.Context, c *op.Call, tx *store.Tx, in *rotateInput) (op.Item[Rotated], error) {
	w, err := current(ctx, c, tx, in.WebhookID)
	if err != nil {
		return op.Item[Rotated]{}, err
	}
	w.rotate(tx.Now, time.Duration(in.Body.OverlapSeconds)*time.Second)
	err = save(ctx, tx, &w)
	return op.Item[Rotated]{Data: Rotated{Issued: Issued{Webhook: w, Secret: w.secret},
		PreviousSecretExpiresAt: w.previousUntil},
		Ref: w.ref(), Location: w.location(), Secret: true}, err
}

// TestWebhook is the body of testWebhooksWebhookId: an empty object.
type TestWebhook struct{}

// SchemaName implements schema.Named.
func (TestWebhook) SchemaName() string { return "WebhookTestRequest" }

type testInput struct {
	WebhookID string `path:"webhookId"`
	Body      TestWebhook
}

func (s *service) test(ctx context.Context, c *op.Call, tx *store.Tx,
	in *testInput) (op.Item[delivery.Delivery], error) {
	w, err := current(ctx, c, tx, in.WebhookID)
	if err != nil {
		return op.Item[delivery.Delivery]{}, err
	}
	return w.send(ctx, tx, delivery.Event{ID: ids.New(), Type: delivery.Test, AppID: w.AppID, ResourceID: w.ID,
		Revision: w.Revision, OccurredAt: tx.Now})
}

// send starts a delivery that a caller asked for, unless the destination is in
// a state in which nothing is sent.
func (w *Webhook) send(ctx context.Context, tx *store.Tx, e delivery.Event) (op.Item[delivery.Delivery], error) {
	holds, err := w.authorized(ctx, tx, tx.Now)
	switch {
	case err != nil:
		return op.Item[delivery.Delivery]{}, err
	case !w.Enabled:
		return op.Item[delivery.Delivery]{}, conflict("The destination is disabled. Enable it first.")
	case w.hold == delivery.HoldSuspended:
		return op.Item[delivery.Delivery]{}, conflict("The destination is suspended after too many failures. Enable " +
			"it again first.")
	case w.hold != "" || !holds:
		return op.Item[delivery.Delivery]{}, conflict("The credential that authorized the destination is no longer " +
			"authorized. Enable the destination again first, with a valid credential.")
	}
	id, err := delivery.Deliver(ctx, tx, e, w.destination())
	if err != nil {
		return op.Item[delivery.Delivery]{}, err
	}
	d, err := delivery.Load(ctx, tx, id)
	return op.Item[delivery.Delivery]{Data: d, Ref: d.Ref(), Location: d.Location(), RetryAfter: 1}, err
}
