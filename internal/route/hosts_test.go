package route

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestServes follows which hostnames are served: those with a route of their own, and
// not those that only have links.
func TestServes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		put(t, db, "x", "https://e.com/")
		putHost := func(hostname string) {
			publish(t, db, func(p *Publisher) error {
				return p.PutHost(t.Context(), hostname, "revision", Host{DomainID: "id of " + hostname})
			})
		}
		for n := range 1001 {
			putHost(fmt.Sprintf("h%d.example", n))
		}
		c := NewCache(db, slog.New(slog.DiscardHandler))
		if c.Serves("h0.example") {
			t.Error("a hostname is served before any is known")
		}
		f := follower{cache: c}
		check := func(hostname string, want bool) {
			t.Helper()
			if err := f.poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.Serves(hostname) != want {
				t.Errorf("%s: served %t, want %t", hostname, !want, want)
			}
		}
		check("a.example", false)
		for n := range 1001 {
			check(fmt.Sprintf("h%d.example", n), true)
		}
		putHost("a.example")
		check("a.example", true)
		publish(t, db, func(p *Publisher) error { return p.Remove(t.Context(), "a.example", "x", "id of x") })
		check("a.example", true)
		publish(t, db, func(p *Publisher) error { return p.Remove(t.Context(), "a.example", "", "id of a.example") })
		check("a.example", false)

		// What was missed is read anew.
		putHost("b.example")
		if _, err := db.Exec(t.Context(), "DELETE FROM route_change"); err != nil {
			t.Fatal(err)
		}
		putHost("c.example")
		check("b.example", true)
	})
}
