package webhook

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

type deliveriesInput struct {
	WebhookID string `path:"webhookId"`
	delivery.Filter
}

func listDeliveries(ctx context.Context, c *op.Call, in *deliveriesInput, w op.Window) ([]delivery.Delivery, error) {
	return delivery.List(ctx, c.DB, in.WebhookID, in.Filter, w)
}

type deliveryInput struct {
	DeliveryID string `path:"deliveryId"`
}

func getDelivery(ctx context.Context, c *op.Call, in *deliveryInput) (op.Item[delivery.Delivery], error) {
	d, err := delivery.Load(ctx, c.DB, in.DeliveryID)
	return op.Item[delivery.Delivery]{Data: d, Ref: d.Ref()}, err
}

// RetryDelivery is the body of retryWebhookDeliveriesDeliveryId: an empty object.
type RetryDelivery struct{}

// SchemaName implements schema.Named.
func (RetryDelivery) SchemaName() string { return "WebhookDeliveryRetryRequest" }

type retryInput struct {
	DeliveryID string `path:"deliveryId"`
	Body       RetryDelivery
}

func (s *service) retry(ctx context.Context, c *op.Call, tx *store.Tx,
	in *retryInput) (op.Item[delivery.Delivery], error) {
	d, err := delivery.Load(ctx, tx, in.DeliveryID)
	if err != nil {
		return op.Item[delivery.Delivery]{}, err
	}
	if c.Stale(d.Revision) {
		return op.Item[delivery.Delivery]{}, fault.Stale()
	}
	if !d.Over() {
		return op.Item[delivery.Delivery]{}, conflict("The delivery is %s. Wait until it has succeeded, failed or "+
			"been cancelled.", d.State)
	}
	w, err := find(ctx, tx, d.WebhookID, tx.Now)
	if errors.Is(err, store.ErrNotFound) {
		return op.Item[delivery.Delivery]{},
			conflict("The destination was deleted. Nothing can be sent to it any more.")
	}
	if err != nil {
		return op.Item[delivery.Delivery]{}, err
	}
	e, err := delivery.EventOf(ctx, tx, d.ID)
	if err != nil {
		return op.Item[delivery.Delivery]{}, err
	}
	return w.send(ctx, tx, e)
}
