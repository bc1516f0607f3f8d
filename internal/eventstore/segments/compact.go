package segments

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// lookEvery is how often Run looks for something to do, about.
	lookEvery = time.Second
	// maxWait is the longest that Run waits after an error.
	maxWait = time.Minute
	// avoidFor is how long a segment that cannot be read is left alone.
	avoidFor = time.Hour
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
// files that nobody needs, or merges segments.
func (e *Engine) Step(ctx context.Context) (done bool, err error) {
	defer fault.Wrap(&err, "segments.Step")
	if n, err := e.collect(ctx); n > 0 || err != nil {
		return true, err
	}
	manifest, err := entries(ctx, e.DB, "")
	if err != nil {
		return false, err
	}
	e.open.retain(manifest)
	j := plan(e.avoided.without(manifest, e.DB.Now()), e.DB.Now())
	if j == nil {
		return false, nil
	}
	_, err = e.rewrite(ctx, j.old, j.young, func(*segment.Event) bool { return true })
	if lost(err) {
		err = nil
	}
	e.avoided.note(err, e.DB.Now())
	return true, err
}

// avoided are segments that could not be read, so that those which can are merged all
// the same.
type avoided struct {
	mu    sync.Mutex
	until map[string]clock.Instant
}

// note remembers the segment that caused an error.
func (a *avoided) note(err error, now clock.Instant) {
	var unreadable *fileError
	if errors.As(err, &unreadable) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.until == nil {
			a.until = map[string]clock.Instant{}
		}
		a.until[unreadable.id] = now.Add(avoidFor)
	}
}

// without returns the segments that need not be avoided.
func (a *avoided) without(list []entry, now clock.Instant) []entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, until := range a.until {
		if until <= now {
			delete(a.until, id)
		}
	}
	return slices.DeleteFunc(list, func(s entry) bool { return a.until[s.id] > 0 })
}
