package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/jobs"
)

// turns gives a long job up to n turns while its lease is renewed beside them;
// a job that is not finished then goes on in a later cycle.
func (e *Executor) turns(ctx context.Context, j jobs.Job, n int) error {
	h := jobs.Hold(e.DB, j, e.Lease)
	held, stop := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { renew(held, h, stop) })
	var err error
	for i := 0; i < n && err == nil && !h.Ended() && held.Err() == nil; i++ {
		err = e.turn(held, h)
	}
	if cause := context.Cause(held); errors.Is(cause, jobs.ErrLeaseLost) {
		err = cause
	}
	stop(nil)
	renewing.Wait()
	outcome := "done"
	switch {
	case err == nil && !h.Ended():
		outcome, err = "progress", h.Later(context.WithoutCancel(ctx), e.DB.Now())
	case !h.Finished():
		outcome = "waiting"
	}
	return e.settle(ctx, h.Job, err, outcome)
}

// renew keeps a lease until ctx ends, and ends it when the lease is lost.
func renew(ctx context.Context, h *jobs.Held, lost context.CancelCauseFunc) {
	every := time.NewTicker(h.RenewEvery())
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if err := h.Renew(ctx); errors.Is(err, jobs.ErrLeaseLost) && !h.Ended() {
				lost(err)
				return
			}
		}
	}
}

func (e *Executor) turn(ctx context.Context, h *jobs.Held) (err error) {
	defer recovered(&err)
	return e.kinds[h.Kind].Turn(ctx, h)
}
