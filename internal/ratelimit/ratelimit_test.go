package ratelimit_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// each runs f on both kinds of counters, the second on both engines.
func each(t *testing.T, f func(t *testing.T, l ratelimit.Limiter)) {
	t.Run("memory", func(t *testing.T) { f(t, ratelimit.NewMemory()) })
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) { f(t, ratelimit.NewDatabase(db)) })
}

func write(by, key string, limit int64) ratelimit.Bucket {
	return ratelimit.Bucket{Name: "write", By: by, Key: key, Limit: limit, Window: time.Minute}
}

func TestExactUnderConcurrency(t *testing.T) {
	each(t, func(t *testing.T, l ratelimit.Limiter) {
		buckets := []ratelimit.Bucket{write("credential", "k", 120), write("account", "a", 240), write("app", "p", 120)}
		// Each call that is admitted sees its own number, as if it came alone.
		var seen [121]atomic.Int64
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 25 {
					s, ok, err := l.Take(context.Background(), storetest.Start, buckets)
					if err != nil {
						t.Error(err)
						return
					}
					if ok {
						admitted.Add(1)
						seen[s[1].Used].Add(1)
					}
					if !ok && s[2].Used != 120 || s[0].Used != s[1].Used || s[0].Used != s[2].Used {
						t.Errorf("admitted %v at %d, %d and %d", ok, s[0].Used, s[1].Used, s[2].Used)
					}
				}
			})
		}
		wg.Wait()
		if n := admitted.Load(); n != 120 {
			t.Errorf("admitted %d of 500, want 120", n)
		}
		for i := range seen[1:] {
			if n := seen[i+1].Load(); n != 1 {
				t.Errorf("%d calls were the %dth of their window", n, i+1)
			}
		}
	})
}

// Of windows that are equally close to exhaustion the first is told.
func TestTightest(t *testing.T) {
	standing := func(key string, used int64) ratelimit.Standing {
		return ratelimit.Standing{Bucket: ratelimit.Bucket{Key: key, Limit: 10}, Used: used}
	}
	for want, all := range map[string][]ratelimit.Standing{
		"a": {standing("a", 5), standing("b", 5)}, "b": {standing("a", 5), standing("b", 6), standing("c", 6)},
		"c": {standing("a", 5), standing("b", 6), standing("c", 7)},
	} {
		if got := ratelimit.Tightest(all); got.Key != want {
			t.Errorf("%v is told of %v, want %s", got, all, want)
		}
	}
}

func TestAllOrNone(t *testing.T) {
	each(t, func(t *testing.T, l ratelimit.Limiter) {
		ctx, now := context.Background(), storetest.Start
		narrow, wide := write("app", "p", 1), write("credential", "k", 10)
		take := func(at clock.Instant, wantAdmitted bool, buckets ...ratelimit.Bucket) []ratelimit.Standing {
			t.Helper()
			s, ok, err := l.Take(ctx, at, buckets)
			if err != nil || ok != wantAdmitted {
				t.Fatalf("Take = %v, %v; want admitted %v", ok, err, wantAdmitted)
			}
			return s
		}
		take(now, true, wide, narrow)
		s := take(now, false, wide, narrow)
		if s[0].Used != 1 || s[1].Used != 1 {
			t.Errorf("a refused call was counted: %+v", s)
		}
		tight := ratelimit.Tightest(s)
		if tight.By != "app" || tight.Remaining() != 0 || tight.Reset != now.Add(time.Minute) {
			t.Errorf("tightest = %+v", tight)
		}
		if want := `1;w=60;name="write";by="app"`; tight.Policy() != want {
			t.Errorf("Policy = %s, want %s", tight.Policy(), want)
		}
		for after, want := range map[time.Duration]int{0: 60, time.Microsecond: 60, 58 * time.Second: 2,
			58*time.Second + 500*time.Millisecond: 2, 59*time.Second - time.Microsecond: 2, 59 * time.Second: 1,
			time.Minute - time.Microsecond: 1, time.Minute: 1} {
			if got := tight.RetryAfter(now.Add(after)); got != want {
				t.Errorf("RetryAfter %s after the start = %d, want %d", after, got, want)
			}
		}
		// The next window is empty, and peeking does not fill it.
		next := now.Add(time.Minute)
		if s, err := l.Peek(ctx, next, []ratelimit.Bucket{narrow}); err != nil || s[0].Used != 0 {
			t.Errorf("Peek = %+v, %v", s, err)
		}
		take(next, true, narrow)
	})
}

func TestKeysDoNotMeet(t *testing.T) {
	each(t, func(t *testing.T, l ratelimit.Limiter) {
		for _, key := range []string{"a", "b", strings.Repeat("c", 300)} {
			if _, ok, err := l.Take(context.Background(), storetest.Start,
				[]ratelimit.Bucket{write("credential", key, 1)}); !ok || err != nil {
				t.Errorf("%s: %v, %v", key, ok, err)
			}
		}
	})
}

// A sweep removes windows that ended, no more of them than it may, and keeps those
// that count.
func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		l := ratelimit.NewDatabase(db)
		for _, key := range []string{"a", "b", "c"} {
			if _, ok, err := l.Take(t.Context(), now.Now(), []ratelimit.Bucket{write("app", key, 1)}); !ok ||
				err != nil {
				t.Fatal(ok, err)
			}
		}
		now.Move(3 * time.Hour)
		if _, ok, err := l.Take(t.Context(), now.Now(), []ratelimit.Bucket{write("app", "a", 1)}); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for _, want := range []int64{2, 1, 0} {
			if n, err := ratelimit.Sweep(t.Context(), db, 2); n != want || err != nil {
				t.Errorf("the sweep removed %d windows, %v, want %d", n, err, want)
			}
		}
		if _, ok, err := l.Take(t.Context(), now.Now(), []ratelimit.Bucket{write("app", "a", 1)}); ok || err != nil {
			t.Errorf("the window that counts is gone: %v, %v", ok, err)
		}
	})
}

// A sweep keeps the longest window until after its end, so that it still refuses.
func TestSweepKeepsTheHour(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		l := ratelimit.NewDatabase(db)
		hour := ratelimit.Bucket{Name: "link-create", By: "app", Key: "p", Limit: 1, Window: time.Hour}
		for _, c := range []struct {
			after    time.Duration
			swept    int64
			admitted bool
		}{
			{0, 0, true}, {time.Hour - time.Microsecond, 0, false},
			{2 * time.Hour, 0, true}, {2*time.Hour + time.Microsecond, 1, false},
		} {
			now.Set(storetest.Start.Add(c.after))
			n, err := ratelimit.Sweep(t.Context(), db, 10)
			if n != c.swept || err != nil {
				t.Errorf("after %s the sweep removed %d windows, %v, want %d", c.after, n, err, c.swept)
			}
			_, admitted, err := l.Take(t.Context(), now.Now(), []ratelimit.Bucket{hour})
			if admitted != c.admitted || err != nil {
				t.Errorf("after %s the hour admits %v, %v, want %v", c.after, admitted, err, c.admitted)
			}
		}
	})
}

// What is added counts also beyond the limit, and against what is taken.
func TestAdd(t *testing.T) {
	each(t, func(t *testing.T, l ratelimit.Limiter) {
		b := write("account", "a", 10)
		for _, c := range []struct{ n, used int64 }{{4, 4}, {5, 9}, {7, 16}, {1, 17}} {
			s, err := l.Add(t.Context(), storetest.Start, b, c.n)
			if err != nil || s.Used != c.used || s.Reset != storetest.Start.Add(time.Minute) {
				t.Errorf("%d more: %+v, %v, want %d", c.n, s, err, c.used)
			}
		}
		if _, admitted, err := l.Take(t.Context(), storetest.Start, []ratelimit.Bucket{b}); err != nil || admitted {
			t.Errorf("%t, %v", admitted, err)
		}
		if s, err := l.Add(t.Context(), storetest.Start.Add(time.Minute), b, 3); err != nil || s.Used != 3 {
			t.Errorf("in the next window: %+v, %v", s, err)
		}
	})
}

// A call that cannot be counted is neither admitted nor refused.
func TestNotCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		if _, err := db.Exec(t.Context(), "ALTER TABLE rate_window RENAME TO away"); err != nil {
			t.Fatal(err)
		}
		l := ratelimit.NewDatabase(db)
		buckets := []ratelimit.Bucket{write("app", "p", 1)}
		if _, _, err := l.Take(t.Context(), now.Now(), buckets); err == nil {
			t.Error("the call was counted")
		}
		if _, err := l.Peek(t.Context(), now.Now(), buckets); err == nil {
			t.Error("a window was read")
		}
		if _, err := ratelimit.Sweep(t.Context(), db, 1); err == nil {
			t.Error("windows were swept")
		}
	})
}

// Windows are counted in one order, whatever the caller's is: two calls never hold what the other one
// wants.
func TestOneOrder(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "postgres"), &clock.Clock{})
	l, now := ratelimit.NewDatabase(db), db.Now()
	buckets := []ratelimit.Bucket{write("app", "b", 9), write("app", "a", 9)}
	if _, _, err := l.Take(t.Context(), now, buckets); err != nil {
		t.Fatal(err)
	}
	const window = " FROM rate_window WHERE bucket LIKE ?"
	counted := make(chan error, 1)
	if err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		_, err := store.One(t.Context(), tx, store.Value[int64], "SELECT used"+window+" FOR UPDATE", "%|b|%")
		if err != nil {
			return err
		}
		go func() {
			_, _, err := l.Take(context.WithoutCancel(t.Context()), now, buckets)
			counted <- err
		}()
		storetest.Eventually(t, "the call waits for the second window", func() bool {
			n, err := store.One(t.Context(), db.Urgent(), store.Value[int64], `SELECT count(*) FROM pg_stat_activity
				WHERE wait_event_type = 'Lock' AND datname = current_database()`)
			return err == nil && n > 0
		})
		free, err := store.All(t.Context(), tx, store.Value[int64], "SELECT used"+window+" FOR UPDATE SKIP LOCKED", "%|a|%")
		if err == nil && len(free) > 0 {
			t.Error("the call does not hold the first window")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := <-counted; err != nil {
		t.Error(err)
	}
}

// Counting that fails is an error, not a window with room.
func TestFailedCounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		l, now := ratelimit.NewDatabase(db), c.Now()
		one, full := write("app", "one", 1000), write("app", "full", 1)
		for name, f := range map[string]func(context.Context) error{
			"take": func(ctx context.Context) error {
				_, _, err := l.Take(ctx, now, []ratelimit.Bucket{one})
				return err
			},
			"take of a full one": func(ctx context.Context) error {
				_, admitted, err := l.Take(ctx, now, []ratelimit.Bucket{full})
				if err == nil && admitted {
					_, _, err = l.Take(ctx, now, []ratelimit.Bucket{full})
				}
				return err
			},
			"add":   func(ctx context.Context) error { _, err := l.Add(ctx, now, one, 2); return err },
			"peek":  func(ctx context.Context) error { _, err := l.Peek(ctx, now, []ratelimit.Bucket{one}); return err },
			"sweep": func(ctx context.Context) error { _, err := ratelimit.Sweep(ctx, db, 1); return err },
		} {
			t.Run(name, func(t *testing.T) { storetest.Faulty(t, f) })
		}
	})
}
