package executor

import (
	"context"
	"log/slog"
	"time"
)

// SweepLimit bounds what one sweep removes, so that it never holds the
// database for long.
const SweepLimit = 1000

const sweepEvery = 30 * time.Second

// Sweep removes what is past its retention. It returns how many rows went.
type Sweep struct {
	Name string
	Run  func(ctx context.Context) (int64, error)
}

// RunSweeps runs all sweeps now and then until ctx ends; one that removed as
// much as it may goes on at once.
func RunSweeps(ctx context.Context, log *slog.Logger, sweeps []Sweep) {
	for {
		for _, s := range sweeps {
			for ctx.Err() == nil {
				n, err := s.Run(ctx)
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
