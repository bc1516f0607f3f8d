package webhook

import (
	"log/slog"
	"strconv"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// An owner has half of what is served at once, and a destination is served by one at
// a time.
func TestServed(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), new(clock.Clock))
	d := New(db, outbound.New(outbound.Options{}), slog.New(slog.DiscardHandler), nil)
	taken := func(owner string) (n int) {
		for id := range 200 {
			if d.take(delivery.Due{WebhookID: owner + strconv.Itoa(id), OwnerID: owner}) {
				n++
			}
		}
		return n
	}
	if a, b, c := taken("ann"), taken("bob"), taken("eve"); a != 160 || b != 160 || c != 0 {
		t.Errorf("of 320 places the owners have %d, %d and %d", a, b, c)
	}
	d.served.GiveBack("ann")
	if d.take(delivery.Due{WebhookID: "ann0", OwnerID: "ann"}) {
		t.Error("a destination is served twice at once")
	}
	if !d.take(delivery.Due{WebhookID: "ann199", OwnerID: "ann"}) {
		t.Error("a place that was given back cannot be taken")
	}
}
