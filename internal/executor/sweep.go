package executor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/store"
)

// SweepLimit bounds what one sweep removes, so that it never holds the
// database for long.
const SweepLimit = 1000

const sweepEvery = 30 * time.Second

// RunSweeps runs all sweeps now and then until ctx ends, and none while the clock may
// have jumped. confirmed is the operator's word that it has not, for the first round.
func RunSweeps(ctx context.Context, db *store.DB, log *slog.Logger, sweeps []part.Sweep, confirmed bool) {
	for {
		err := retention.Begin(ctx, db, confirmed)
		var jump *retention.Jump
		switch {
		case err == nil:
			confirmed = false
			runAll(ctx, db, log, sweeps)
		case errors.As(err, &jump):
			log.Error("nothing is swept: the clock has moved more than a day since the last sweep. Set it right; if it is "+
				"right, because no executor ran meanwhile, restart once with --confirm-clock",
				"last_sweep", jump.Last, "clock", jump.Now)
		case ctx.Err() == nil:
			log.Error("sweep", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}

// runAll runs each sweep; one that removed as much as it may goes on at once. A round may
// take long, so the clock is asked before each.
func runAll(ctx context.Context, db *store.DB, log *slog.Logger, sweeps []part.Sweep) {
	for _, s := range sweeps {
		for ctx.Err() == nil {
			var n int64
			err := retention.Holds(ctx, db)
			if err == nil {
				n, err = s.Run(ctx, db, SweepLimit)
			}
			if err != nil && ctx.Err() == nil {
				log.Error("sweep", "what", s.Name, "error", err)
			}
			if err != nil || n < SweepLimit {
				break
			}
		}
	}
}
