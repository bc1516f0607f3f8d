package loaded_test

import (
	"context"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Each statement that fails ends what it is part of with an error.
func TestFailedStatements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for end := range int64(2) { // a log of which nothing is known, then one with a position
			storetest.Faulty(t, func(ctx context.Context) error {
				return db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
					_, err := loaded.Events.Advance(ctx, tx, batch(clicklog.Run{Log: "a", File: 1, Ends: []int64{10 + end}}))
					return err
				})
			})
		}
		storetest.Faulty(t, func(ctx context.Context) error { _, err := loaded.Events.All(ctx, db); return err })
		storetest.Faulty(t, func(ctx context.Context) error { return loaded.Events.Sweep(ctx, db, storetest.Start) })
	})
}
