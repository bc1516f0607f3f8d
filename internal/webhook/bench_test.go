package webhook_test

import (
	"strconv"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// BenchmarkDelivery delivers b.N events to destinations of one receiver on this
// machine, TLS included.
func BenchmarkDelivery(b *testing.B) {
	for _, engine := range storetest.Engines {
		for _, destinations := range []int{1, 32} {
			b.Run(engine+"/destinations="+strconv.Itoa(destinations), func(b *testing.B) {
				r := newReceiver(b)
				i := apitest.New(b, engine, apitest.Options{Outbound: r.options()})
				owner := i.Prepared(b, "ann@example.com")
				key := owner.Key("webhooks:create")
				var to []delivery.Destination
				for range destinations {
					w := key.Call("POST", "/webhooks", M{"appId": key.AppID, "url": "https://a.example.com/",
						"events": []string{linkCreated}}).Want(201)
					to = append(to, delivery.Destination{ID: w.Text("data.webhook.id"),
						Revision: w.Text("data.webhook.revision")})
				}
				if err := i.DB.InTx(b.Context(), func(tx *store.Tx) error {
					for n := range b.N {
						e := delivery.Event{ID: ids.New(), Type: delivery.LinkCreated, AppID: key.AppID,
							ResourceID: "x", Revision: "y", OccurredAt: tx.Now}
						if _, err := delivery.Deliver(b.Context(), tx, e, to[n%len(to)]); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				i.Deliver(b)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
			})
		}
	}
}

// BenchmarkEmit is what an event costs the change that makes it.
func BenchmarkEmit(b *testing.B) {
	for _, engine := range storetest.Engines {
		for _, destinations := range []int{0, 1, 10} {
			b.Run(engine+"/destinations="+strconv.Itoa(destinations), func(b *testing.B) {
				i := apitest.New(b, engine, apitest.Options{})
				owner := i.Prepared(b, "ann@example.com")
				key := owner.Key("webhooks:create")
				for range destinations {
					key.Call("POST", "/webhooks", M{"appId": key.AppID, "url": "https://hooks.waymark.dev/",
						"events": []string{linkCreated}}).Want(201)
				}
				if err := i.DB.InTx(b.Context(), func(tx *store.Tx) error {
					for b.Loop() {
						if err := delivery.Emit(b.Context(), tx, delivery.LinkCreated, linkOf(key.AppID)); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
