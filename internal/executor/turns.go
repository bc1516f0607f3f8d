package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/jobs"
)

// longJobs claims long jobs for the free places and returns how many. They run
// side by side, and share the ten items of a cycle.
func (e *Executor) longJobs(ctx context.Context, p *places) (int, error) {
	free := cycleItems - int(p.busy.Load())
	if free == 0 || len(p.kinds) == 0 {
		return 0, nil
	}
	claimed, err := jobs.Claim(ctx, e.DB, e.Lease, free, p.kinds)
	if err != nil {
		return 0, err
	}
	share := max(1, cycleItems/max(1, int(p.busy.Add(int64(len(claimed))))))
	for _, j := range claimed {
		e.running.Go(func() {
			defer p.free()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cycleLimit)
			defer cancel()
			if err := e.take(ctx, j, share); err != nil {
				e.Log.Error("executor", "error", err)
			}
		})
	}
	return len(claimed), nil
}

// free gives the place of a long job back.
func (p *places) free() {
	p.busy.Add(-1)
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// take gives a claimed long job its turns, or ends one that was interrupted too
// often.
func (e *Executor) take(ctx context.Context, j jobs.Job, n int) error {
	if j.Attempts > jobs.MaxAttempts {
		return e.settle(ctx, j, errInterrupted, "")
	}
	return e.turns(ctx, j, n)
}

// turns gives a long job up to n turns while its lease is renewed beside them;
// a job that is not finished then goes on in a later cycle.
func (e *Executor) turns(ctx context.Context, j jobs.Job, n int) error {
	ctx, span := e.traced(ctx, j)
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
	span.end(err)
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
