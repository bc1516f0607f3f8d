package eventstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
)

const (
	// gather is how long the loader lets clicks come together.
	gather = 100 * time.Millisecond
	// lookEvery is how often the loader looks without being woken: the log of
	// another process that died wakes nobody.
	lookEvery = 30 * time.Second
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
	// drainFor bounds how long a stopping loader goes on.
	drainFor = 5 * time.Second
)

// Loader moves events from the click log to an event store and to the count of
// limited clicks. An event is given up by the log only once both have it, and
// what fails is tried again for as long as it takes.
type Loader struct {
	log    *clicklog.Log
	append func(context.Context, *clicklog.Batch) error
	count  func(context.Context, *clicklog.Batch) error
	// size is the most events of a batch.
	size   int
	logger *slog.Logger
	// oldest is the instant of the oldest event of the batch under way, 0 for none.
	oldest atomic.Int64
}

// NewLoader returns a Loader from log to append, which is an engine's Append, and then to
// count, which is a click counter's Count, in batches of up to size events. Both must
// commit the events they return nil for and ignore those they already have; count is
// never asked again for a batch that it has taken. A log has one loader.
func NewLoader(log *clicklog.Log, append, count func(context.Context, *clicklog.Batch) error, size int,
	logger *slog.Logger) *Loader {
	return &Loader{log: log, append: append, count: count, size: size, logger: logger}
}

// Run moves events until ctx is done, and then what is left in the log as far
// as it can in five seconds. The rest stays for the next start.
func (l *Loader) Run(ctx context.Context) {
	wait := firstWait
	for ctx.Err() == nil {
		moved, err := l.Move(ctx)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				l.logger.Error("events stay in the click log for now", "backlog_bytes", l.log.Backlog(), "retry_in",
					wait, "error", err)
			}
			pause(ctx, wait)
			wait = min(2*wait, maxWait)
			continue
		case moved == 0:
			select {
			case <-ctx.Done():
			case <-l.log.Wake():
			case <-time.After(lookEvery):
			}
		}
		wait = firstWait
		if moved < l.size {
			pause(ctx, gather)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	for ctx.Err() == nil {
		moved, err := l.Move(ctx)
		if err != nil {
			l.logger.Error("events stay in the click log until the next start", "backlog_bytes", l.log.Backlog(),
				"error", err)
		}
		if err != nil || moved == 0 {
			return
		}
	}
}

// Move moves one batch and returns its size; Run does it again and again.
func (l *Loader) Move(ctx context.Context) (int, error) {
	b, err := l.log.Next(l.size)
	if err != nil {
		// What cannot be read is at least as old as this.
		l.oldest.CompareAndSwap(0, int64(clock.At(time.Now())))
		return 0, err
	}
	if len(b.Events) == 0 {
		l.oldest.Store(0)
		return 0, nil
	}
	l.oldest.Store(int64(oldest(b.Events)))
	if stored := b.Stored(); len(stored.Events) > 0 {
		if err := l.append(ctx, stored); err != nil {
			return 0, fmt.Errorf("load events: %w", err)
		}
	}
	if err := l.count(ctx, b); err != nil {
		return 0, fmt.Errorf("count limited clicks: %w", err)
	}
	if err := l.log.Done(b); err != nil {
		return 0, err
	}
	l.oldest.Store(0)
	return len(b.Events), nil
}

// Oldest returns the instant of the oldest event that l has begun to move, or at which it
// first could not read the log, 0 when it has moved all: one that stays back shows a store
// that does not keep up.
func (l *Loader) Oldest() clock.Instant { return clock.Instant(l.oldest.Load()) }

func oldest(events []clicklog.Event) clock.Instant {
	at := events[0].At
	for i := range events {
		at = min(at, events[i].At)
	}
	return at
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
