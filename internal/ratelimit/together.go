package ratelimit

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

const (
	// maxTogether is how many calls are counted in one transaction.
	maxTogether = 64
	// togetherLimit bounds a transaction for which other callers wait. None of those
	// for whom it counts may end it for the others.
	togetherLimit = 5 * time.Second
)

// together gathers the calls that arrive while earlier ones of the same windows are
// being counted. One transaction then counts all of them; otherwise each would wait
// for the rows that the one before has locked. The first caller that waits counts
// for all who wait.
type together struct {
	mu sync.Mutex
	// busy has a key for each set of windows that is being counted, with the callers
	// that wait for it.
	busy map[string][]*caller
}

// errNotCounted is what those who wait get when counting panics.
var errNotCounted = errors.New("the call was not counted")

// caller waits to be counted.
type caller struct {
	// turn receives the callers for whom this one is to count, itself first. It
	// receives nil when another has counted this caller; answer then has the outcome.
	turn   chan []*caller
	answer answer
}

// answer is what Take returns.
type answer struct {
	standings []Standing
	admitted  bool
	err       error
}

// take returns the answer of one call. count counts n calls and returns their
// answers, in the order in which they are counted.
func (t *together) take(ctx context.Context, key string, count func(ctx context.Context, n int) []answer) answer {
	t.mu.Lock()
	waiting, busy := t.busy[key]
	if !busy {
		if t.busy == nil {
			t.busy = map[string][]*caller{}
		}
		t.busy[key] = nil
		t.mu.Unlock()
		defer t.next(key)
		// Others wait for it.
		ctx, cancel := context.WithTimeout(ctx, togetherLimit)
		defer cancel()
		return count(ctx, 1)[0]
	}
	c := &caller{turn: make(chan []*caller, 1)}
	t.busy[key] = append(waiting, c)
	t.mu.Unlock()
	// A caller that leaves is counted all the same, as others may depend on its turn.
	select {
	case all := <-c.turn:
		if all == nil {
			return c.answer
		}
		return t.countFor(ctx, key, all, count)
	case <-ctx.Done():
		go func() {
			if all := <-c.turn; all != nil {
				t.countFor(ctx, key, all, count)
			}
		}()
		return answer{err: ctx.Err()}
	}
}

// countFor counts all, of whom the caller is the first.
func (t *together) countFor(ctx context.Context, key string, all []*caller,
	count func(ctx context.Context, n int) []answer) answer {
	defer t.next(key)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), togetherLimit)
	defer cancel()
	for _, c := range all[1:] {
		c.answer.err = errNotCounted
		defer func() { c.turn <- nil }()
	}
	answers := count(ctx, len(all))
	for i, c := range all {
		c.answer = answers[i]
	}
	return answers[0]
}

// next hands the key to the first of those who wait, or gives it back.
func (t *together) next(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.busy[key]
	if len(waiting) == 0 {
		delete(t.busy, key)
		return
	}
	n := min(len(waiting), maxTogether)
	t.busy[key] = waiting[n:]
	waiting[0].turn <- waiting[:n:n]
}

// windowsOf names buckets in their windows of one moment.
func windowsOf(buckets []Bucket, now clock.Instant) string {
	var b strings.Builder
	for _, bucket := range buckets {
		b.WriteString(bucket.id() + "|" + strconv.FormatInt(int64(bucket.start(now)), 36) + "|" +
			strconv.FormatInt(bucket.Limit, 36) + "\n")
	}
	return b.String()
}
