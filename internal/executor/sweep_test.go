package executor_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A clock that jumps during a round stops the rest of it, also the sweep that was to go on.
func TestClockJumpsDuringARound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		ran := 0
		sweeps := []part.Sweep{
			{Name: "first", Run: func(context.Context, *store.DB, int) (int64, error) {
				if ran++; ran == 2 {
					now.Move(25 * time.Hour)
				}
				return 1000, nil // more is left
			}},
			{Name: "second", Run: func(context.Context, *store.DB, int) (int64, error) {
				t.Error("swept although the clock has jumped")
				return 0, nil
			}},
		}
		var log apitest.Journal
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { executor.RunSweeps(ctx, db, slog.New(slog.NewTextHandler(&log, nil)), sweeps, false) })
		storetest.Eventually(t, "the end of the round", func() bool { return strings.Contains(log.String(), "what=second") })
		cancel()
		running.Wait()
		if ran != 2 {
			t.Errorf("the first sweep ran %d times", ran)
		}
	})
}

// A sweep goes on at once when it removed as much as it may, and rests when it removed less.
func TestSweepGoesOn(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), new(clock.Clock))
	var ran []int
	removed := []int64{1000, 1000, 999, 0}
	ctx, cancel := context.WithCancel(t.Context())
	executor.RunSweeps(ctx, db, slog.New(slog.DiscardHandler), []part.Sweep{
		{Name: "first", Run: func(_ context.Context, _ *store.DB, limit int) (int64, error) {
			ran = append(ran, limit)
			return removed[len(ran)-1], nil
		}},
		{Name: "second", Run: func(context.Context, *store.DB, int) (int64, error) {
			cancel()
			return 0, nil
		}},
	}, false)
	if !slices.Equal(ran, []int{1000, 1000, 1000}) {
		t.Errorf("the sweep ran with %d", ran)
	}
}
