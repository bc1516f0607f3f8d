package turns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/turns"
)

// each is a query of so many units.
func each(units int, unit func(worker, i int) error) func(context.Context, *turns.Turn) error {
	return func(ctx context.Context, turn *turns.Turn) error { return turn.Each(ctx, units, unit) }
}

// start runs a query in the background and returns a function that waits for its error.
func start(ctx context.Context, pool *turns.Pool, account string,
	query func(context.Context, *turns.Turn) error) (result func() error) {
	done := make(chan error, 1)
	go func() { done <- pool.Do(ctx, account, query) }()
	return func() error { return <-done }
}

// held is a query that is under way until release is closed, and counts those that are.
func held(running *atomic.Int64, release <-chan struct{}) func(context.Context, *turns.Turn) error {
	return func(ctx context.Context, _ *turns.Turn) error {
		running.Add(1)
		defer running.Add(-1)
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func wantLoad(t *testing.T, pool *turns.Pool, want turns.Load) {
	t.Helper()
	synctest.Wait()
	if got := pool.Load(); got != want {
		t.Errorf("load %+v, want %+v", got, want)
	}
	if n := pool.Accounts(); want.Running == 0 && n != 0 {
		t.Errorf("%d accounts without queries are remembered", n)
	}
}

// The units of a query run once each, and never two on the same worker.
func TestUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, units = 3, 100
		pool := turns.New(workers)
		var mu sync.Mutex
		ran := map[int]int{}
		var busy [workers]atomic.Bool
		var together, most atomic.Int64
		var results []func() error
		for _, account := range []string{"a", "b"} {
			results = append(results, start(t.Context(), pool, account, each(units, func(worker, i int) error {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d has two units", worker)
				}
				if n := together.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Millisecond)
				together.Add(-1)
				busy[worker].Store(false)
				mu.Lock()
				defer mu.Unlock()
				ran[i]++
				return nil
			})))
		}
		for _, result := range results {
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		for i := range units {
			if ran[i] != 2 {
				t.Errorf("unit %d of two queries ran %d times", i, ran[i])
			}
		}
		if most.Load() != workers {
			t.Errorf("%d units ran together on %d workers", most.Load(), workers)
		}
		if err := pool.Do(t.Context(), "a", each(0, nil)); err != nil {
			t.Errorf("no units: %v", err)
		}
		wantLoad(t, pool, turns.Load{})
	})
}

// Accounts take turns, and within an account its queries.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		free := make(chan struct{})
		first := start(t.Context(), pool, "z", each(1, func(int, int) error { <-free; return nil }))
		synctest.Wait() // the only worker is busy
		var order []string
		results := []func() error{first}
		for _, name := range []string{"a1", "a2", "b1", "c1"} {
			results = append(results, start(t.Context(), pool, name[:1], each(3, func(_, i int) error {
				order = append(order, fmt.Sprint(name, ".", i))
				return nil
			})))
			synctest.Wait()
		}
		close(free)
		for _, result := range results {
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		want := strings.Fields("a1.0 b1.0 c1.0 a2.0 b1.1 c1.1 a1.1 b1.2 c1.2 a2.1 a1.2 a2.2")
		if !slices.Equal(order, want) {
			t.Errorf("order\n%v, want\n%v", order, want)
		}
	})
}

// An account leaves one of several workers to others.
func TestOneWorkerIsLeft(t *testing.T) {
	for workers, most := range map[int]int64{1: 1, 2: 1, 4: 3} {
		synctest.Test(t, func(t *testing.T) {
			pool := turns.New(workers)
			free := make(chan struct{})
			var busy atomic.Int64
			var results []func() error
			for range 4 {
				results = append(results, start(t.Context(), pool, "a", each(5, func(int, int) error {
					busy.Add(1)
					<-free
					return nil
				})))
			}
			synctest.Wait()
			if busy.Load() != most {
				t.Errorf("an account has %d of %d workers, want %d", busy.Load(), workers, most)
			}
			if workers > 1 {
				if err := pool.Do(t.Context(), "b", each(5, func(int, int) error { return nil })); err != nil {
					t.Error(err)
				}
			}
			close(free)
			for _, result := range results {
				if err := result(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Of an account four queries are under way and 16 wait; for one more there is no room,
// but for another account there is.
func TestBoundsOfAnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(2)
		release := make(chan struct{})
		var running atomic.Int64
		var results []func() error
		for range 20 {
			results = append(results, start(t.Context(), pool, "a", held(&running, release)))
		}
		wantLoad(t, pool, turns.Load{Running: 4, Waiting: 16})
		if running.Load() != 4 {
			t.Errorf("%d queries run, want 4", running.Load())
		}
		if err := pool.Do(t.Context(), "a", each(0, nil)); !errors.Is(err, turns.ErrBusy) {
			t.Errorf("one more query: %v", err)
		}
		if err := pool.Do(t.Context(), "b", each(0, nil)); err != nil {
			t.Errorf("another account: %v", err)
		}
		wantLoad(t, pool, turns.Load{Running: 4, Waiting: 16, Refused: 1})
		release <- struct{}{} // one ends, one that waits begins
		wantLoad(t, pool, turns.Load{Running: 4, Waiting: 15, Refused: 1})
		results = append(results, start(t.Context(), pool, "a", held(&running, release)))
		wantLoad(t, pool, turns.Load{Running: 4, Waiting: 16, Refused: 1})
		close(release)
		for _, result := range results {
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		wantLoad(t, pool, turns.Load{Refused: 1})
	})
}

// Of all accounts 32 queries are under way and 512 wait. A place that is free goes to the
// account with the fewest queries under way.
func TestBoundsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(2)
		release := make(chan struct{})
		var running, late atomic.Int64
		var results []func() error
		for account := range 8 {
			for range 20 {
				results = append(results, start(t.Context(), pool, fmt.Sprint(account), held(&running, release)))
			}
		}
		wantLoad(t, pool, turns.Load{Running: 32, Waiting: 128})
		for account := range 384 {
			results = append(results, start(t.Context(), pool, fmt.Sprint("late", account), held(&late, release)))
		}
		wantLoad(t, pool, turns.Load{Running: 32, Waiting: 512})
		if err := pool.Do(t.Context(), "one more", each(0, nil)); !errors.Is(err, turns.ErrBusy) {
			t.Errorf("one more: %v", err)
		}
		wantLoad(t, pool, turns.Load{Running: 32, Waiting: 512, Refused: 1})
		for range 3 {
			release <- struct{}{}
		}
		wantLoad(t, pool, turns.Load{Running: 32, Waiting: 509, Refused: 1})
		if late.Load() != 3 {
			t.Errorf("%d of 3 places went to accounts without a query", late.Load())
		}
		close(release)
		for _, result := range results {
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		wantLoad(t, pool, turns.Load{Refused: 1})
	})
}

// A client that leaves gives its place back at once: while it waits, and while it runs,
// when no further unit begins. The next one in the queue gets the place.
func TestClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		release := make(chan struct{})
		var running atomic.Int64
		ctx, leave := context.WithCancel(t.Context())
		began := 0
		results := []func() error{start(ctx, pool, "a", each(1000, func(int, int) error {
			began++
			time.Sleep(time.Millisecond)
			return nil
		}))}
		synctest.Wait()
		for range 3 {
			results = append(results, start(t.Context(), pool, "a", held(&running, release)))
		}
		synctest.Wait()
		results = append(results, start(ctx, pool, "a", held(&running, release)))
		synctest.Wait()
		results = append(results, start(t.Context(), pool, "a", held(&running, release)))
		wantLoad(t, pool, turns.Load{Running: 4, Waiting: 2})
		time.Sleep(10*time.Millisecond + time.Microsecond)
		leave()
		for _, i := range []int{4, 0} {
			if err := results[i](); !errors.Is(err, context.Canceled) {
				t.Errorf("query %d of the client that left: %v", i, err)
			}
		}
		if began != 11 {
			t.Errorf("%d units began, want 11", began)
		}
		wantLoad(t, pool, turns.Load{Running: 4})
		if running.Load() != 4 {
			t.Errorf("%d run, want 4", running.Load())
		}
		// Each place among those that wait is there again.
		for range 17 {
			results = append(results, start(t.Context(), pool, "a", held(&running, release)))
			synctest.Wait()
		}
		wantLoad(t, pool, turns.Load{Running: 4, Waiting: 16, Refused: 1})
		close(release)
		last := len(results) - 1
		for i, result := range results[:last] {
			if i == 0 || i == 4 {
				continue // they left
			}
			if err := result(); err != nil {
				t.Error(err)
			}
		}
		if err := results[last](); !errors.Is(err, turns.ErrBusy) {
			t.Errorf("one more that waits: %v", err)
		}
		wantLoad(t, pool, turns.Load{Refused: 1})
	})
}

// A client that leaves waits for no unit of others, and for its own ones that run.
func TestLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		free := make(chan struct{})
		long := start(t.Context(), pool, "long", each(1, func(int, int) error { <-free; return nil }))
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		waits := start(ctx, pool, "a", each(1, func(int, int) error { t.Error("a unit began"); return nil }))
		synctest.Wait()
		leave()
		if err := waits(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(free)
		if err := long(); err != nil {
			t.Error(err)
		}
		ctx, leave = context.WithCancel(t.Context())
		began, ended := 0, 0
		if err := pool.Do(ctx, "a", each(10, func(int, int) error {
			began++
			leave()
			time.Sleep(time.Millisecond)
			ended++
			return nil
		})); !errors.Is(err, context.Canceled) || began != 1 || ended != 1 {
			t.Errorf("%v, %d units began, %d ended", err, began, ended)
		}
		ctx, leave = context.WithCancel(t.Context())
		if err := pool.Do(ctx, "a", each(1, func(int, int) error {
			leave()
			time.Sleep(time.Millisecond)
			return nil
		})); err != nil {
			t.Errorf("left during the last unit: %v", err)
		}
		for range 1000 { // also before Each has noticed
			ctx, leave = context.WithCancel(t.Context())
			if err := pool.Do(ctx, "a", each(2, func(_, i int) error {
				leave()
				if i > 0 {
					t.Error("a unit began after the client left")
				}
				return nil
			})); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		wantLoad(t, pool, turns.Load{})
	})
}

// Waiting and running together take ten seconds at most.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		began := time.Now()
		slow := func(ctx context.Context, turn *turns.Turn) error {
			return turn.Each(ctx, 1000, func(int, int) error {
				time.Sleep(time.Second)
				return nil
			})
		}
		var results []func() error
		for range 4 {
			results = append(results, start(t.Context(), pool, "a", slow))
		}
		// A unit that obeys its context ends with it.
		results = append(results, start(t.Context(), pool, "b", func(ctx context.Context, _ *turns.Turn) error {
			<-ctx.Done()
			if took := time.Since(began); took != 10*time.Second {
				t.Errorf("ended after %s", took)
			}
			return fmt.Errorf("statement: %w", ctx.Err())
		}))
		time.Sleep(10*time.Second - 1)
		wantLoad(t, pool, turns.Load{Running: 5})
		for i, result := range results {
			if err := result(); !errors.Is(err, turns.ErrSlow) {
				t.Errorf("query %d: %v", i, err)
			}
		}
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("took %s", took)
		}
		// What ends in time is no failure, nor is a failure in time slow.
		failed := errors.New("failed")
		for _, want := range []error{nil, failed} {
			if err := pool.Do(t.Context(), "a", each(1, func(int, int) error {
				time.Sleep(10*time.Second - 1)
				return want
			})); err != want {
				t.Errorf("%v, want %v", err, want)
			}
		}
		// An answer that comes late all the same is an answer.
		if err := pool.Do(t.Context(), "a", each(1, func(int, int) error {
			time.Sleep(11 * time.Second)
			return nil
		})); err != nil {
			t.Errorf("a late answer: %v", err)
		}
		wantLoad(t, pool, turns.Load{})
	})
}

// A query that waits until its deadline was not slow: others kept it from beginning.
func TestDeadlineWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		release := make(chan struct{})
		var results []func() error
		for range 4 { // which do not end in time
			results = append(results, start(t.Context(), pool, "a", func(context.Context, *turns.Turn) error {
				<-release
				return nil
			}))
		}
		synctest.Wait()
		began := time.Now()
		err := turns.InTime(t.Context(), func(ctx context.Context) error {
			return pool.Do(ctx, "a", each(1, func(int, int) error { return nil }))
		})
		if took := time.Since(began); err != turns.ErrBusy || took != 10*time.Second {
			t.Errorf("ended with %v after %s", err, took)
		}
		wantLoad(t, pool, turns.Load{Running: 4, Refused: 1})
		close(release)
		for _, result := range results {
			result()
		}
	})
}

// A unit that fails or panics ends its query with the first error, and no other query.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(3)
		failed := errors.New("failed")
		if err := pool.Do(t.Context(), "a", each(2, func(_, i int) error {
			time.Sleep(time.Duration(2-i) * time.Millisecond)
			return fmt.Errorf("unit %d", i)
		})); err == nil || err.Error() != "unit 1" {
			t.Errorf("two failures: %v, want the first", err)
		}
		for name, fail := range map[string]func() error{
			"error": func() error { return failed },
			"panic": func() error { panic(failed) },
		} {
			var began, whole atomic.Int64
			var others []func() error
			for range 2 {
				others = append(others, start(t.Context(), pool, "a", each(10, func(int, int) error {
					time.Sleep(time.Millisecond)
					whole.Add(1)
					return nil
				})))
			}
			err := pool.Do(t.Context(), "a", each(10, func(_, i int) error {
				began.Add(1)
				time.Sleep(time.Millisecond)
				if i == 2 {
					return fail()
				}
				return nil
			}))
			// When unit 2 fails, one more may be on the other worker.
			if err == nil || !strings.Contains(err.Error(), "failed") || began.Load() > 4 {
				t.Errorf("%s: %v after %d units", name, err, began.Load())
			}
			for _, other := range others {
				if err := other(); err != nil {
					t.Error(err)
				}
			}
			if whole.Load() != 20 {
				t.Errorf("%s: %d of 20 units of other queries ran", name, whole.Load())
			}
		}
		// A query may go on after units that failed, and its place comes back when it panics.
		if err := pool.Do(t.Context(), "a", func(ctx context.Context, turn *turns.Turn) error {
			if err := turn.Each(ctx, 3, func(int, int) error { return failed }); err != failed {
				t.Errorf("got %v", err)
			}
			return turn.Each(ctx, 3, func(int, int) error { return nil })
		}); err != nil {
			t.Error(err)
		}
		func() {
			defer func() { recover() }()
			pool.Do(t.Context(), "a", func(context.Context, *turns.Turn) error { panic("query") })
		}()
		wantLoad(t, pool, turns.Load{})
	})
}

// An account that always asks for more makes another one wait for a unit of 4 ms before each of its own, and for the
// one under way, not for queries.
func TestOneAccountAsksAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		ctx, stop := context.WithCancel(t.Context())
		var greedy sync.WaitGroup
		for range 8 {
			greedy.Go(func() {
				for ctx.Err() == nil {
					pool.Do(ctx, "greedy", each(1000, func(int, int) error {
						time.Sleep(4 * time.Millisecond)
						return nil
					}))
				}
			})
		}
		time.Sleep(time.Second)
		for range 10 {
			began := time.Now()
			if err := pool.Do(ctx, "modest", each(10, func(int, int) error {
				time.Sleep(4 * time.Millisecond)
				return nil
			})); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 84*time.Millisecond {
				t.Errorf("10 units of 4 ms took %s beside another account", took)
			}
		}
		stop()
		greedy.Wait()
		wantLoad(t, pool, turns.Load{})
	})
}
