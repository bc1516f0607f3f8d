package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// Each statement that fails ends what it is part of with an error, which a dispatcher logs.
func TestFailedStatements(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		registerAs(t, owner.Key("webhooks:create", "webhooks:read", "webhooks:update"), nil)
		// send has a dispatcher send one delivery more, after its destination was changed.
		send := func(set string) func(context.Context) error {
			return func(ctx context.Context) error {
				exec(t, i.DB, "DELETE FROM webhook_delivery")
				exec(t, i.DB, "UPDATE webhook SET hold = NULL, consecutive_failures = 0")
				emit(t, i, owner.AppID, 1)
				if set != "" {
					exec(t, i.DB, "UPDATE webhook SET "+set)
				}
				var log bytes.Buffer
				d := webhook.New(i.DB, outbound.New(r.options()), slog.New(slog.NewTextHandler(&log, nil)), nil)
				if err := d.Drain(ctx); err != nil {
					return err
				}
				if log.Len() > 0 {
					return errors.New(log.String())
				}
				return nil
			}
		}
		inTx := func(f func(context.Context, *store.Tx) error) func(context.Context) error {
			return func(ctx context.Context) error {
				return i.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error { return f(ctx, tx) })
			}
		}
		for _, c := range []struct {
			name   string
			status int
			f      func(context.Context) error
		}{
			{"success", 204, send("")},
			{"failure", 500, send("")},
			{"last failure", 500, send("consecutive_failures = 9")},
			{"suspended", 204, send("hold = 'suspended'")},
			{"another revision", 204, send("revision = revision || 'x'")},
			{"lost authorization", 204, send("authorized_until = 1")},
			{"take over", 204, func(ctx context.Context) error { return delivery.TakeOver(ctx, i.DB) }},
			{"load", 204, func(ctx context.Context) error {
				exec(t, i.DB, "DELETE FROM webhook_delivery")
				emit(t, i, owner.AppID, 1)
				id, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT id FROM webhook_delivery")
				if err != nil {
					t.Fatal(err)
				}
				_, err = delivery.Load(ctx, i.DB, id)
				return err
			}},
			{"depth", 204, func(ctx context.Context) error { _, _, err := delivery.Depth(ctx, i.DB); return err }},
			{"emit", 204, inTx(func(ctx context.Context, tx *store.Tx) error {
				return delivery.Emit(ctx, tx, delivery.LinkCreated, linkOf(owner.AppID))
			})},
			{"sweep", 204, func(ctx context.Context) error { _, err := webhook.Sweep(ctx, i.DB, 10); return err }},
			{"app", 204, inTx(func(ctx context.Context, tx *store.Tx) error {
				return webhook.RemoveApp(ctx, tx, "", owner.AppID)
			})},
		} {
			t.Run(c.name, func(t *testing.T) {
				r.answers(always(c.status))
				storetest.Faulty(t, c.f)
			})
		}
	})
}
