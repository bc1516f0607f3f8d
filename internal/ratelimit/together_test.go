package ratelimit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// counting is a count that takes its time: each transaction ends when it is told to.
type counting struct {
	together together
	mu       sync.Mutex
	sizes    []int
	total    int64
	end      chan error
}

func (c *counting) take(ctx context.Context, key string) answer {
	return c.together.take(ctx, key, func(ctx context.Context, n int) (answers []answer) {
		c.mu.Lock()
		c.sizes = append(c.sizes, n)
		c.mu.Unlock()
		var err error
		select {
		case err = <-c.end:
		case <-ctx.Done():
			err = ctx.Err()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for range n {
			c.total++
			answers = append(answers, answer{[]Standing{{Used: c.total}}, true, err})
		}
		return answers
	})
}

// Calls that come while others are counted are counted together, at most
// maxTogether of them, each with an answer of its own; those of other windows do
// not wait.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{end: make(chan error)}
		var calls sync.WaitGroup
		var mu sync.Mutex
		seen := map[int64]int{}
		take := func() {
			calls.Go(func() {
				a := c.take(t.Context(), "a")
				mu.Lock()
				defer mu.Unlock()
				if seen[a.standings[0].Used]++; a.err != nil || !a.admitted {
					t.Error(a)
				}
			})
		}
		take()
		synctest.Wait()
		for range 70 {
			take()
		}
		synctest.Wait()
		for range 3 {
			c.end <- nil
			synctest.Wait()
		}
		calls.Wait()
		if len(seen) != 71 || len(c.sizes) != 3 || c.sizes[0] != 1 || c.sizes[1] != 64 || c.sizes[2] != 6 {
			t.Errorf("%d answers of transactions for %v", len(seen), c.sizes)
		}
		if len(c.together.busy) != 0 {
			t.Errorf("left behind: %v", c.together.busy)
		}
		for _, key := range []string{"a", "b"} {
			calls.Go(func() { c.take(t.Context(), key) })
		}
		synctest.Wait()
		if len(c.sizes) != 5 {
			t.Error("the calls of one window wait for those of another")
		}
		c.end <- nil
		c.end <- nil
		calls.Wait()
	})
}

// Only calls of the same windows, with the same limits, are counted together.
func TestWindowsOf(t *testing.T) {
	a := Bucket{Name: "read", By: "app", Key: "a", Limit: 600, Window: time.Minute}
	all := map[string]bool{}
	for _, b := range []Bucket{a, {"write", "app", "a", 600, time.Minute}, {"read", "owner", "a", 600, time.Minute},
		{"read", "app", "b", 600, time.Minute}, {"read", "app", "a", 601, time.Minute}, {"read", "app", "a", 600, time.Hour}} {
		all[windowsOf([]Bucket{b}, storetest.Start)] = true
	}
	all[windowsOf([]Bucket{a}, storetest.Start.Add(time.Minute))] = true
	all[windowsOf([]Bucket{a, a}, storetest.Start)] = true
	if len(all) != 8 || windowsOf([]Bucket{a}, storetest.Start) != windowsOf([]Bucket{a}, storetest.Start.Add(time.Second)) {
		t.Errorf("%d are told apart: %v", len(all), all)
	}
}

// Whoever leaves while others are counted does not keep those who wait from their
// answers, even when it was to count for them.
func TestLeavingTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{end: make(chan error)}
		var calls sync.WaitGroup
		calls.Go(func() { c.take(t.Context(), "a") })
		synctest.Wait()
		leaving, leave := context.WithCancel(t.Context())
		calls.Go(func() {
			if a := c.take(leaving, "a"); !errors.Is(a.err, context.Canceled) {
				t.Error(a)
			}
		})
		synctest.Wait()
		calls.Go(func() {
			if a := c.take(t.Context(), "a"); a.err != nil || a.standings[0].Used != 3 {
				t.Error(a)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		c.end <- nil
		c.end <- nil
		calls.Wait()
		if len(c.sizes) != 2 || c.sizes[1] != 2 {
			t.Errorf("transactions for %v", c.sizes)
		}
	})
}

// What a transaction fails with is told to all for whom it counted, and to none
// after them.
func TestFailingTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{end: make(chan error)}
		failed := errors.New("away")
		var calls sync.WaitGroup
		calls.Go(func() { c.take(t.Context(), "a") })
		synctest.Wait()
		for range 2 {
			calls.Go(func() {
				if a := c.take(t.Context(), "a"); !errors.Is(a.err, failed) {
					t.Error(a)
				}
			})
		}
		synctest.Wait()
		c.end <- nil
		c.end <- failed
		calls.Wait()
		calls.Go(func() {
			if a := c.take(t.Context(), "a"); a.err != nil {
				t.Error(a)
			}
		})
		synctest.Wait()
		c.end <- nil
		calls.Wait()
	})
}

// More calls than a new window admits are counted as far as it does.
func TestTogetherInNewWindow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		buckets := []Bucket{
			{Name: "write", By: "app", Key: "p", Limit: 3, Window: time.Minute},
			{Name: "write", By: "account", Key: "a", Limit: 100, Window: time.Minute},
		}
		for i, a := range NewDatabase(db).takeAll(t.Context(), storetest.Start, buckets, 5) {
			used := min(int64(i)+1, 3)
			if a.err != nil || a.admitted != (i < 3) || a.standings[0].Used != used || a.standings[1].Used != used {
				t.Errorf("call %d: %+v", i, a)
			}
		}
	})
}

// Calls that cannot be counted together are not admitted, and not counted one by one either.
func TestFailedCountOfSeveral(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		d, buckets := NewDatabase(db), []Bucket{{Name: "write", By: "app", Key: "p", Limit: 9, Window: time.Minute}}
		ctx, outcome := storetest.FailNth(t.Context(), 1)
		answers := d.takeAll(ctx, storetest.Start, buckets, 3)
		if failed, _ := outcome(); failed == "" || len(answers) != 3 {
			t.Fatalf("%d answers, %q was made to fail", len(answers), failed)
		}
		for i, a := range answers {
			if a.admitted || a.err == nil || errors.Is(a.err, errFull) {
				t.Errorf("call %d: %+v", i, a)
			}
		}
		if s, err := d.Peek(t.Context(), storetest.Start, buckets); err != nil || s[0].Used != 0 {
			t.Errorf("counted: %+v, %v", s, err)
		}
	})
}

// When counting panics nobody waits for an answer that never comes.
func TestPanicTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counted together
		end := make(chan bool)
		take := func() (a answer, panicked any) {
			defer func() { panicked = recover() }()
			return counted.take(t.Context(), "a", func(_ context.Context, n int) []answer {
				if <-end {
					panic("counting")
				}
				return make([]answer, n)
			}), nil
		}
		var calls sync.WaitGroup
		calls.Go(func() { take() })
		synctest.Wait()
		calls.Go(func() {
			if _, panicked := take(); panicked == nil {
				t.Error("the panic is lost")
			}
		})
		synctest.Wait()
		calls.Go(func() {
			if a, panicked := take(); !errors.Is(a.err, errNotCounted) || panicked != nil {
				t.Error(a, panicked)
			}
		})
		synctest.Wait()
		end <- false
		end <- true
		calls.Wait()
	})
}
