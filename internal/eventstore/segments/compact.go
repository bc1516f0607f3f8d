package segments

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// lookEvery is how often Run looks for something to do, about.
	lookEvery = time.Second
	// maxWait is the longest wait after an error.
	maxWait = time.Minute
)

// Run implements eventstore.Engine: it takes steps until ctx is done.
func (e *Engine) Run(ctx context.Context) {
	wait := lookEvery
	for ctx.Err() == nil {
		done, err := e.Step(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			e.Log.Error("segments of events stay as they are for now", "retry_in", wait, "error", err)
			pause(ctx, wait)
			wait = min(2*wait, maxWait)
		case done:
			wait = lookEvery
		default:
			wait = lookEvery
			// Processes that look at different times seldom do the same.
			pause(ctx, lookEvery/2+rand.N(lookEvery))
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Step does one thing of what Run does, and reports whether there was one: it deletes
// files that nobody needs, and merges segments. While the segment store is away, young
// segments are merged all the same.
func (e *Engine) Step(ctx context.Context) (done bool, err error) {
	defer fault.Wrap(&err, "segments.Step")
	deleted, failure := 0, error(nil)
	if e.collecting.over(e.DB.Now()) {
		deleted, failure = e.collect(ctx)
		e.collecting.note(failure, e.DB.Now())
	}
	done, err = e.compact(ctx)
	return done || deleted > 0, errors.Join(failure, err)
}

// compact does what plan says.
func (e *Engine) compact(ctx context.Context) (done bool, err error) {
	manifest, err := entries(ctx, e.DB, "")
	if err != nil {
		return false, err
	}
	e.open.retain(manifest)
	now := e.DB.Now()
	j := plan(e.avoided.without(manifest, now), now, e.storing.over(now))
	if j == nil {
		return false, nil
	}
	_, err = e.rewrite(ctx, j.old, j.young, func(*segment.Event) bool { return true })
	if lost(err) {
		return true, nil
	}
	if now = e.DB.Now(); !e.avoided.note(err, now) && !j.young {
		e.storing.note(err, now)
	}
	return true, err
}
