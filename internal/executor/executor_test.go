package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// note leaves an effect in the database that counts how often it was done.
func note(ctx context.Context, tx *store.Tx, name string) error {
	_, err := tx.Exec(ctx, `INSERT INTO sequence (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE
		SET value = sequence.value + 1`, name)
	return err
}

// noted returns how often an effect was done.
func noted(t *testing.T, db *store.DB, name string) int64 {
	t.Helper()
	n, err := store.One(t.Context(), db, store.Value[int64], "SELECT value FROM sequence WHERE name = ?", name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return n
}

// over is a time after which a lease has ended and its job is due again,
// whichever attempt it was.
const over = jobs.Lease + 10*time.Second

var errKind = errors.New("it does not work")

// failures is the kind "fail": its jobs fail after an effect, and it remembers
// what Failed was told.
type failures struct {
	mu   sync.Mutex
	runs int
	told []string
}

func (f *failures) kind() jobs.Kind {
	return jobs.Kind{
		Name: "fail",
		Run: func(ctx context.Context, tx *store.Tx, j jobs.Job) error {
			f.mu.Lock()
			f.runs++
			f.mu.Unlock()
			if err := note(ctx, tx, "run "+j.Payload); err != nil {
				return err
			}
			return errKind
		},
		Failed: func(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.told = append(f.told, fmt.Sprintf("%d %v", j.Attempts, final))
			return note(ctx, tx, "failed "+j.Payload)
		},
	}
}

// noteKind is the kind "note", which does its payload.
var noteKind = jobs.Kind{Name: "note", Run: func(ctx context.Context, tx *store.Tx, j jobs.Job) error {
	return note(ctx, tx, j.Payload)
}}

func executor(t *testing.T, db *store.DB, kinds ...jobs.Kind) *Executor {
	return New(Options{DB: db, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Kinds: kinds})
}

func enqueue(t *testing.T, db *store.DB, kind, payload string) {
	t.Helper()
	if err := db.InTx(t.Context(), func(tx *store.Tx) error {
		return jobs.Enqueue(t.Context(), tx, kind, payload, "", actor.Grant{})
	}); err != nil {
		t.Fatal(err)
	}
}

func cycle(t *testing.T, e *Executor, want int) {
	t.Helper()
	n, err := e.Cycle(t.Context())
	if err != nil || n != want {
		t.Fatalf("Cycle = %d, %v, want %d", n, err, want)
	}
}

func claim(t *testing.T, db *store.DB, want int) []jobs.Job {
	t.Helper()
	claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 10, []string{"note", "fail", "slow"})
	if err != nil || len(claimed) != want {
		t.Fatalf("Claim = %d jobs, %v, want %d", len(claimed), err, want)
	}
	return claimed
}

func depth(t *testing.T, db *store.DB, want int64) {
	t.Helper()
	if n, _, err := jobs.Depth(t.Context(), db); err != nil || n != want {
		t.Fatalf("Depth = %d, %v, want %d", n, err, want)
	}
}

// beside opens the same database as another process would.
func beside(t *testing.T, f func(t *testing.T, first, second *store.DB, c *clock.Clock)) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			c := &clock.Clock{}
			c.Set(storetest.Start)
			address := storetest.Address(t, engine)
			f(t, storetest.Open(t, address, c), storetest.Open(t, address, c), c)
		})
	}
}

// An executor that lost its lease, because it or its machine stood still,
// changes nothing, whatever it was about to do.
func TestStaleLease(t *testing.T) {
	beside(t, func(t *testing.T, one, two *store.DB, c *clock.Clock) {
		failing := &failures{}
		first, second := executor(t, one, noteKind, failing.kind()), executor(t, two, noteKind, failing.kind())
		enqueue(t, one, "note", "work")
		enqueue(t, one, "note", "more")
		stale := claim(t, one, 2)
		// The lease holds for its 30 seconds.
		c.Move(jobs.Lease - time.Millisecond)
		cycle(t, second, 0)
		c.Move(over)
		cycle(t, second, 2)
		if n := noted(t, one, "work"); n != 1 {
			t.Fatalf("the effect is there %d times after the second executor", n)
		}
		// The first one wakes up.
		if err := first.run(t.Context(), stale...); !errors.Is(err, jobs.ErrLeaseLost) {
			t.Errorf("run under a lost lease = %v, want ErrLeaseLost", err)
		}
		for _, j := range stale {
			if err := first.runOne(t.Context(), j); err != nil {
				t.Errorf("runOne under a lost lease = %v, want nil: the job is another's", err)
			}
		}
		// The same while the second has the job and is not done with it.
		enqueue(t, one, "note", "held")
		stale = claim(t, one, 1)
		c.Move(over)
		held := claim(t, two, 1)
		if err := first.runOne(t.Context(), stale[0]); err != nil {
			t.Error(err)
		}
		if n := noted(t, one, "held"); n != 0 {
			t.Errorf("a stale executor did %d effects of a job that another holds", n)
		}
		depth(t, one, 1)
		if err := second.runOne(t.Context(), held[0]); err != nil {
			t.Error(err)
		}
		// A stale one that fails neither gives the job back nor tells.
		enqueue(t, one, "fail", "bad")
		stale = claim(t, one, 1)
		c.Move(over)
		claim(t, two, 1)
		if err := first.runOne(t.Context(), stale[0]); err != nil {
			t.Error(err)
		}
		if len(failing.told) != 0 || noted(t, one, "failed bad") != 0 {
			t.Errorf("a stale executor told of failures: %v", failing.told)
		}
		// Also when the lease is lost between the attempt and its record.
		err := one.InTx(t.Context(), func(tx *store.Tx) error { return jobs.Retry(t.Context(), tx, stale[0]) })
		if !errors.Is(err, jobs.ErrLeaseLost) {
			t.Errorf("Retry under a lost lease = %v, want ErrLeaseLost", err)
		}
		c.Move(5 * time.Second)
		cycle(t, first, 0) // not given back: it is the second's for 30 s
		for name, want := range map[string]int64{"work": 1, "more": 1, "held": 1, "run bad": 0} {
			if n := noted(t, one, name); n != want {
				t.Errorf("effect %q is there %d times, want %d", name, n, want)
			}
		}
	})
}

// The jobs of a kind that come together are run together; when they fail so, each
// is run alone, and what is wrong with one is not the others' failure.
func TestRunAll(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		var sizes []int
		all := jobs.Kind{Name: "all", RunAll: func(ctx context.Context, tx *store.Tx, all []jobs.Job) error {
			sizes = append(sizes, len(all))
			for _, j := range all {
				if err := note(ctx, tx, "all "+j.Payload); err != nil {
					return err
				}
				if j.Payload == "panic" {
					panic("no")
				}
			}
			return nil
		}}
		e := executor(t, db, noteKind, all)
		for i := range 40 {
			enqueue(t, db, "all", fmt.Sprint(i))
		}
		enqueue(t, db, "note", "alone")
		cycle(t, e, 41)
		if fmt.Sprint(sizes) != "[40]" || noted(t, db, "all 0") != 1 || noted(t, db, "all 39") != 1 ||
			noted(t, db, "alone") != 1 {
			t.Errorf("jobs were run by %v", sizes)
		}
		sizes = nil
		for _, payload := range []string{"a", "panic", "b"} {
			enqueue(t, db, "all", payload)
		}
		cycle(t, e, 3)
		if fmt.Sprint(sizes) != "[3 1 1 1]" || noted(t, db, "all a") != 1 || noted(t, db, "all b") != 1 ||
			noted(t, db, "all panic") != 0 {
			t.Errorf("jobs were run by %v", sizes)
		}
		depth(t, db, 1)
	})
}

// In a batch with a job that another has meanwhile, the others are still done,
// once.
func TestPartlyStaleBatch(t *testing.T) {
	beside(t, func(t *testing.T, one, two *store.DB, c *clock.Clock) {
		first, second := executor(t, one, noteKind), executor(t, two, noteKind)
		enqueue(t, one, "note", "lost")
		stale := claim(t, one, 1)
		c.Move(over)
		cycle(t, second, 1)
		enqueue(t, one, "note", "own")
		batch := append(claim(t, one, 1), stale...)
		if err := first.run(t.Context(), batch...); !errors.Is(err, jobs.ErrLeaseLost) {
			t.Errorf("run = %v", err)
		}
		if n := noted(t, one, "own"); n != 0 {
			t.Errorf("part of a refused transaction stands: %d", n)
		}
		for _, j := range batch {
			if err := first.runOne(t.Context(), j); err != nil {
				t.Error(err)
			}
		}
		if own, lost := noted(t, one, "own"), noted(t, one, "lost"); own != 1 || lost != 1 {
			t.Errorf("effects are there %d and %d times, want once each", own, lost)
		}
		depth(t, one, 0)
	})
}

// Jobs whose shared transaction took all its time are done alone, each in time of
// its own: none of them has failed.
func TestSharedTimeIsOver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ctx, over := context.WithCancel(t.Context())
		slow := jobs.Kind{Name: "slow", RunAll: func(ctx context.Context, tx *store.Tx, all []jobs.Job) error {
			if len(all) > 1 {
				over()
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return note(ctx, tx, "slow "+all[0].Payload)
		}}
		e := executor(t, db, slow)
		enqueue(t, db, "slow", "a")
		enqueue(t, db, "slow", "b")
		if err := errors.Join(e.runAll(ctx, claim(t, db, 2))...); err != nil {
			t.Error(err)
		}
		if a, b := noted(t, db, "slow a"), noted(t, db, "slow b"); a != 1 || b != 1 {
			t.Errorf("done %d and %d times", a, b)
		}
	})
}

// While an executor is in the transaction of a job, another cannot do it too,
// even when the lease ends meanwhile.
func TestLeaseEndsInTransaction(t *testing.T) {
	beside(t, func(t *testing.T, one, two *store.DB, c *clock.Clock) {
		entered, leave := make(chan struct{}), make(chan struct{})
		slow := jobs.Kind{Name: "slow", Run: func(ctx context.Context, tx *store.Tx, j jobs.Job) error {
			close(entered) // twice would panic
			<-leave
			return note(ctx, tx, "slow")
		}}
		first, second := executor(t, one, slow), executor(t, two, slow)
		enqueue(t, one, "slow", "")
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := first.Cycle(t.Context()); err != nil {
				t.Errorf("first: %v", err)
			}
		})
		<-entered
		c.Move(over)
		skipped := make(chan struct{})
		wg.Go(func() {
			defer close(skipped)
			if n, err := second.Cycle(t.Context()); err != nil || n != 0 {
				t.Errorf("second: %d, %v, want nothing to do", n, err)
			}
		})
		// PostgreSQL skips the job. SQLite has the second wait for the writer, or
		// come to find the job done.
		if one.Dialect().Name == "postgres" {
			<-skipped
		}
		close(leave)
		wg.Wait()
		if n := noted(t, one, "slow"); n != 1 {
			t.Errorf("the effect is there %d times", n)
		}
		depth(t, one, 0)
	})
}

// A job that fails is tried five times in all, after waits of 1, 2, 4 and 8 s
// and up to a quarter more; each failure is told, the last one as final, and
// no effect of a failed attempt stands.
func TestRetries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		failing := &failures{}
		e := executor(t, db, noteKind, failing.kind())
		enqueue(t, db, "fail", "bad")
		enqueue(t, db, "note", "good")
		cycle(t, e, 2)
		if n := noted(t, db, "good"); n != 1 {
			t.Errorf("a job beside a failing one was done %d times", n)
		}
		for i, wait := range []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			depth(t, db, 1)
			_, due, err := jobs.Depth(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if after := due.Sub(c.Now()); after < wait || after >= wait+wait/4 {
				t.Errorf("wait %d is %s, want %s and up to a quarter more", i+1, after, wait)
			}
			c.Set(due.Add(-time.Millisecond))
			cycle(t, e, 0)
			c.Set(due)
			cycle(t, e, 1)
		}
		depth(t, db, 0)
		want := "1 false, 2 false, 3 false, 4 false, 5 true"
		if got := strings.Join(failing.told, ", "); got != want {
			t.Errorf("Failed was told %s, want %s", got, want)
		}
		if failing.runs != 6 { // the first attempt ran it with the good job, and then alone
			t.Errorf("it was run %d times in five attempts, want 6", failing.runs)
		}
		if run, failed := noted(t, db, "run bad"), noted(t, db, "failed bad"); run != 0 || failed != 5 {
			t.Errorf("%d effects of failed attempts, %d of Failed; want 0 and 5", run, failed)
		}
		c.Move(time.Hour)
		cycle(t, e, 0)
	})
}

// A job whose executors died without a word is claimed five times; the sixth
// claim gives it up without running it.
func TestInterruptions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		failing := &failures{}
		e := executor(t, db, failing.kind())
		enqueue(t, db, "fail", "deadly")
		for attempt := int64(1); attempt <= 5; attempt++ {
			j := claim(t, db, 1)[0]
			if j.Attempts != attempt || j.LeaseNo != attempt {
				t.Fatalf("claim %d is attempt %d under lease %d", attempt, j.Attempts, j.LeaseNo)
			}
			c.Move(over)
		}
		cycle(t, e, 1)
		depth(t, db, 0)
		if len(failing.told) != 1 || failing.told[0] != "6 true" {
			t.Errorf("Failed was told %v, want [6 true]", failing.told)
		}
		if failing.runs != 0 {
			t.Error("it was run once more")
		}
	})
}

// Interruptions and failures count together.
func TestInterruptedThenFailed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		failing := &failures{}
		e := executor(t, db, failing.kind())
		enqueue(t, db, "fail", "both")
		for range 4 {
			claim(t, db, 1)
			c.Move(over)
		}
		cycle(t, e, 1)
		depth(t, db, 0)
		if len(failing.told) != 1 || failing.told[0] != "5 true" {
			t.Errorf("Failed was told %v, want [5 true]", failing.told)
		}
	})
}

// A job of a kind that this version does not know waits for a program that
// does: an older one runs beside a newer, or after it.
func TestUnknownKind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		enqueue(t, db, "of tomorrow", "later")
		enqueue(t, db, "note", "beside")
		today := executor(t, db, noteKind)
		cycle(t, today, 1)
		c.Move(time.Hour)
		cycle(t, today, 0)
		depth(t, db, 1)
		cycle(t, executor(t, db, jobs.Kind{Name: "of tomorrow", Run: noteKind.Run}), 1)
		if noted(t, db, "beside") != 1 || noted(t, db, "later") != 1 {
			t.Errorf("done: %d and %d times", noted(t, db, "beside"), noted(t, db, "later"))
		}
	})
}

// A panic is a failure of its job alone.
func TestPanic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e := executor(t, db, noteKind, jobs.Kind{Name: "panic",
			Run: func(context.Context, *store.Tx, jobs.Job) error { panic("no") }})
		enqueue(t, db, "panic", "")
		enqueue(t, db, "note", "beside")
		cycle(t, e, 2)
		if n := noted(t, db, "beside"); n != 1 {
			t.Errorf("the job beside was done %d times", n)
		}
		depth(t, db, 1)
	})
}

// Several executors do every job once.
func TestSeveralExecutors(t *testing.T) {
	beside(t, func(t *testing.T, one, two *store.DB, c *clock.Clock) {
		const n = 120
		for i := range n {
			enqueue(t, one, "note", fmt.Sprintf("job %d", i))
		}
		var wg sync.WaitGroup
		for _, db := range []*store.DB{one, two, one, two} {
			e := executor(t, db, noteKind)
			wg.Go(func() {
				for range n {
					did, err := e.Cycle(t.Context())
					if err != nil {
						t.Error(err)
					}
					if did == 0 || err != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		depth(t, one, 0)
		for i := range n {
			if times := noted(t, one, fmt.Sprintf("job %d", i)); times != 1 {
				t.Errorf("job %d was done %d times", i, times)
			}
		}
	})
}

// Run does what is enqueued while it runs and returns when asked, with the
// cycle under way finished.
func TestRun(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		entered, leave := make(chan struct{}, 1), make(chan struct{})
		e := executor(t, db, noteKind, jobs.Kind{Name: "slow",
			Run: func(ctx context.Context, tx *store.Tx, j jobs.Job) error {
				entered <- struct{}{}
				<-leave
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return note(ctx, tx, "slow")
			}})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { e.Run(ctx) })
		enqueue(t, db, "slow", "")
		<-entered
		cancel()
		close(leave)
		wg.Wait()
		if n := noted(t, db, "slow"); n != 1 {
			t.Errorf("the job under way at the end was done %d times, want once", n)
		}
		depth(t, db, 0)
	})
}

// RunSweeps goes on at once while a sweep removes as much as it may, survives
// one that fails, and ends when asked.
func TestRunSweeps(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls []string
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	RunSweeps(ctx, db, slog.New(slog.NewTextHandler(t.Output(), nil)), []part.Sweep{
		{Name: "failing", Run: func(context.Context, *store.DB, int) (int64, error) {
			calls = append(calls, "failing")
			return 0, errKind
		}},
		{Name: "full", Run: func(context.Context, *store.DB, int) (int64, error) {
			calls = append(calls, "full")
			if len(calls) < 4 {
				return 1000, nil
			}
			return 1, nil
		}},
		{Name: "last", Run: func(context.Context, *store.DB, int) (int64, error) {
			calls = append(calls, "last")
			cancel()
			return 0, nil
		}},
	}, false)
	if got, want := strings.Join(calls, " "), "failing full full full last"; got != want {
		t.Errorf("sweeps ran %s, want %s", got, want)
	}
}

// Nothing is swept after the clock moved by more than a day, which is told with what to
// do, until the operator confirms it.
func TestSweepsAfterAJump(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		swept := 0
		// run runs a first round and returns what it logged.
		run := func(confirmed bool) string {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var told strings.Builder
			logged := slog.New(slog.NewTextHandler(writerFunc(func(line []byte) { told.Write(line); cancel() }), nil))
			RunSweeps(ctx, db, logged, []part.Sweep{{Name: "all", Run: func(context.Context, *store.DB, int) (int64, error) {
				swept++
				cancel()
				return 0, nil
			}}}, confirmed)
			return told.String()
		}
		for n, step := range []struct {
			moved     time.Duration
			confirmed bool
			swept     int
		}{{0, false, 1}, {24 * time.Hour, false, 2}, {25 * time.Hour, false, 2}, {0, false, 2}, {0, true, 3}, {0, false, 4}} {
			c.Move(step.moved)
			told := run(step.confirmed)
			if swept != step.swept || strings.Contains(told, "--confirm-clock") != (step.moved > 24*time.Hour || n == 3) {
				t.Errorf("step %d: swept %d times, told %q", n, swept, told)
			}
		}
	})
}

// writerFunc is a function as an io.Writer.
type writerFunc func(line []byte)

func (w writerFunc) Write(line []byte) (int, error) { w(line); return len(line), nil }

// Jobs are taken while there are any, a moment after a wake, and else now and then; at once when a
// place becomes free.
func TestWaitsForJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, stop := context.WithCancel(t.Context())
		wake, more := make(chan struct{}), make(chan struct{})
		at := []time.Duration{}
		go executor(t, nil).loop(ctx, func(context.Context) (int, error) {
			at = append(at, time.Since(began))
			return max(0, 3-len(at)), nil
		}, wake, more)
		for _, signal := range []chan struct{}{wake, more} {
			time.Sleep(pollEvery / 2)
			signal <- struct{}{}
		}
		time.Sleep(3 * pollEvery / 2)
		stop()
		synctest.Wait()
		if want := []time.Duration{0, 0, 0, 120 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("jobs are taken at %v, want %v", at, want)
		}
	})
}

// A statement that fails while a long job has its turns is told: by the cycle, or in the log.
func TestFailedStatementsAreTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		var log strings.Builder
		e := executor(t, db, counting(func(context.Context, *jobs.Held, int64) error { return errKind }))
		e.Log = slog.New(slog.NewTextHandler(&log, nil))
		storetest.Faulty(t, func(ctx context.Context) error {
			log.Reset()
			enqueueFor(t, db, "a", "count", "5")
			_, err := e.Cycle(ctx)
			for line := range strings.Lines(log.String()) {
				if !strings.Contains(line, `error="`+errKind.Error()) { // which each turn tells
					err = errors.Join(err, errors.New(line))
				}
			}
			return err
		})
	})
}

func TestKindTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a kind that is declared twice is accepted")
		}
	}()
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	executor(t, db, noteKind, noteKind)
}
