package clickcount

import (
	"context"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Each statement that fails ends what it is part of with an error.
func TestFailedStatements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		fresh := func() *Counter {
			return New(db, func() bool { return false }, slog.New(slog.DiscardHandler))
		}
		serial := int64(0)
		for name, f := range map[string]func(context.Context) error{
			"clicks": func(ctx context.Context) error { _, err := fresh().Clicks(ctx, "a"); return err },
			"take":   func(ctx context.Context) error { _, err := fresh().Take(ctx, "a", 1); return err },
			"count": func(ctx context.Context) error {
				serial++
				return fresh().Count(ctx, &clicklog.Batch{
					Events: []clicklog.Event{{Link: clicklog.Link{ID: "a"}, Limited: true}},
					Runs:   []clicklog.Run{{Log: "log", File: 1, Ends: []int64{serial}}},
				})
			},
			"look": func(ctx context.Context) error {
				// The database has lost a click.
				c := fresh()
				serial++
				c.links["b"] = &tally{others: serial}
				return c.look(ctx)
			},
			"sweep": func(ctx context.Context) error { _, err := Sweep(ctx, db, 1); return err },
		} {
			t.Run(name, func(t *testing.T) { storetest.Faulty(t, f) })
		}
	})
}
