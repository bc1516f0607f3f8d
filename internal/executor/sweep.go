package executor

import (
	"context"
	"log/slog"
	"time"

	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// SweepLimit bounds what one sweep removes, so that it never holds the
// database for long.
const SweepLimit = 1000

const sweepEvery = 30 * time.Second

// RunSweeps runs all sweeps now and then until ctx ends; one that removed as
// much as it may goes on at once.
func RunSweeps(ctx context.Context, db *store.DB, log *slog.Logger, sweeps []part.Sweep) {
	for {
		for _, s := range sweeps {
			for ctx.Err() == nil {
				n, err := s.Run(ctx, db, SweepLimit)
				if err != nil && ctx.Err() == nil {
					log.Error("sweep", "what", s.Name, "error", err)
				}
				if err != nil || n < SweepLimit {
					break
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}
