package segments

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// avoidFor is how long a segment that cannot be read is left alone.
const avoidFor = time.Hour

// backoff keeps work that fails from being tried all the time.
type backoff struct {
	mu    sync.Mutex
	until clock.Instant
	wait  time.Duration
}

// over reports whether the work may be tried.
func (b *backoff) over(now clock.Instant) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until <= now
}

// note remembers how a try went: after each failure the wait is twice as long, up to
// maxWait.
func (b *backoff) note(err error, now clock.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.until, b.wait = 0, 0
		return
	}
	b.wait = min(max(2*b.wait, lookEvery), maxWait)
	b.until = now.Add(b.wait)
}

// avoided are segments that could not be read, so that those which can are merged all
// the same.
type avoided struct {
	mu    sync.Mutex
	until map[string]clock.Instant
}

// note remembers the segment that caused an error, and reports whether one did: one that
// is damaged or missing. Any other error may be over soon.
func (a *avoided) note(err error, now clock.Instant) bool {
	var unreadable *fileError
	if !errors.As(err, &unreadable) || !errors.Is(err, segment.ErrDamaged) && !errors.Is(err, errMissing) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.until == nil {
		a.until = map[string]clock.Instant{}
	}
	a.until[unreadable.id] = now.Add(avoidFor)
	return true
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
