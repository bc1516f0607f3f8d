package assembly_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A redirector that has started has the routes and the salts, and tells that it has not
// while the database keeps them back. For that it does not wait for ever.
func TestReady(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		redirector := func() *assembly.Installation {
			i, err := assembly.Open(t.Context(), assembly.Settings{
				Options: assembly.Options{Outbound: outbound.New(outbound.Options{})},
				DB:      db, Clock: c, Roles: assembly.Roles{Redirect: true}, DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
				LimitScale: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { i.Close() })
			if i.Ready() {
				t.Error("ready before the start")
			}
			if err := i.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			return i
		}
		rename := func(from, to string) {
			if _, err := db.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		i := redirector()
		if !i.Ready() || i.CheckReady(t.Context()) != nil {
			t.Error("started and not ready")
		}
		// Visitors need no database. Whoever needs one finds it away, as its context has ended.
		away, cancel := context.WithCancel(t.Context())
		cancel()
		if err := i.CheckReady(away); err != nil {
			t.Errorf("while the database is away: %v", err)
		}
		i.Drain()
		if err := i.CheckReady(t.Context()); i.Ready() || err == nil || err.Error() != "the process ends" {
			t.Errorf("at the end: ready %t, %v", i.Ready(), err)
		}
		rename("visitor_salt", "visitor_salt_away")
		if i := redirector(); !i.Routes.Ready() || i.Ready() {
			t.Errorf("routes are ready: %t; without salts: %t", i.Routes.Ready(), i.Ready())
		}
		rename("visitor_salt_away", "visitor_salt")
		rename("route_change", "route_change_away")
		if i := redirector(); i.Routes.Ready() || i.Ready() || i.CheckReady(t.Context()) == nil {
			t.Error("ready without routes")
		}
	})
}
