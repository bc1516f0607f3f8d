package eventstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Each statement that fails ends what it is part of with an error.
func TestFailedStatements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		serial := 0
		// batch returns an event of which nothing is known yet.
		batch := func() *clicklog.Batch {
			serial++
			value := fmt.Sprint(serial)
			return &clicklog.Batch{
				Events: []clicklog.Event{{ID: int64(serial), At: storetest.Start, Type: clicklog.Click, OS: value,
					ReferrerHost: value, Link: clicklog.Link{ID: value, AppID: value}}},
				Runs: []clicklog.Run{{Log: "log", File: 1, Ends: []int64{int64(serial)}}},
			}
		}
		all := map[string]func(context.Context) error{
			"save": func(ctx context.Context) error {
				u := eventstore.NewUnstoring(db, slog.New(slog.DiscardHandler))
				u.Add("a", storetest.Start)
				return u.Save(ctx)
			},
			"unstored": func(ctx context.Context) error {
				_, err := eventstore.Unstored(ctx, db, "a", storetest.Start, storetest.Start)
				return err
			},
			"sweep": func(ctx context.Context) error {
				_, err := eventstore.SweepUnstored(ctx, db, storetest.Start, 1)
				return err
			},
			"sweep texts":  func(ctx context.Context) error { return eventstore.SweepTexts(ctx, db, storetest.Start, 1) },
			"sweep loaded": func(ctx context.Context) error { return eventstore.SweepLoaded(ctx, db, storetest.Start) },
			"totals": func(ctx context.Context) error {
				_, err := eventstore.Totals(ctx, database.Open(db), storetest.Start)
				return err
			},
		}
		for name, e := range engines(t, db) {
			if err := e.Append(t.Context(), batch()); err != nil {
				t.Fatal(err)
			}
			all["append "+name] = func(ctx context.Context) error { return e.Append(ctx, batch()) }
			all["links "+name] = func(ctx context.Context) error {
				_, err := e.Links(ctx, "1", []string{"1"})
				return err
			}
		}
		for name, f := range all {
			t.Run(name, func(t *testing.T) { storetest.Faulty(t, f) })
		}
	})
}
