package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// counting is the kind "count": its payload is how many items it has, and each
// turn does one, whose effect is in the database.
func counting(meet func(ctx context.Context, h *jobs.Held, item int64) error) jobs.Kind {
	return jobs.Kind{Name: "count", Turn: func(ctx context.Context, h *jobs.Held) error {
		done, err := store.One(ctx, h.DB, store.Value[int64], "SELECT value FROM sequence WHERE name = ?", h.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if meet != nil {
			if err := meet(ctx, h, done); err != nil || h.Ended() {
				return err
			}
		}
		if total, _ := strconv.ParseInt(h.Payload, 10, 64); done == total {
			return h.Finish(ctx, func(tx *store.Tx) error { return note(ctx, tx, "finished "+h.ID) })
		}
		return h.InTx(ctx, func(tx *store.Tx) error {
			if err := note(ctx, tx, "all"); err != nil {
				return err
			}
			return note(ctx, tx, h.ID)
		})
	}, Failed: func(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
		return note(ctx, tx, fmt.Sprintf("failed %v", final))
	}}
}

func enqueueFor(t *testing.T, db *store.DB, app, kind, payload string) {
	t.Helper()
	if err := db.InTx(t.Context(), func(tx *store.Tx) error {
		return jobs.Enqueue(t.Context(), tx, kind, payload, app, actor.Grant{})
	}); err != nil {
		t.Fatal(err)
	}
}

// A cycle does ten items, those of long jobs among them.
func TestTurns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e := executor(t, db, noteKind, counting(nil))
		enqueueFor(t, db, "a", "count", "25")
		for _, want := range []int64{10, 20, 25} {
			cycle(t, e, 1)
			if n := noted(t, db, "all"); n != want {
				t.Fatalf("%d items are done, want %d", n, want)
			}
		}
		depth(t, db, 0)
		// Two long jobs share.
		enqueueFor(t, db, "a", "count", "8")
		enqueueFor(t, db, "b", "count", "8")
		enqueueFor(t, db, "c", "note", "short")
		cycle(t, e, 3)
		if all, short := noted(t, db, "all"), noted(t, db, "short"); all != 25+5+5 || short != 1 {
			t.Errorf("%d items, %d short jobs; want 10 more and 1", all-25, short)
		}
	})
}

// What one app has waiting holds up another's job by no more than a cycle.
func TestFairness(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e := executor(t, db, noteKind, counting(nil))
		for i := range 5 {
			enqueueFor(t, db, "busy", "count", "50")
			for range 20 {
				enqueueFor(t, db, "busy", "note", fmt.Sprintf("busy %d", i))
			}
		}
		c.Move(time.Second)
		enqueueFor(t, db, "other", "note", "other")
		enqueueFor(t, db, "", "note", "of nobody")
		cycle(t, e, 69)
		if other, nobody := noted(t, db, "other"), noted(t, db, "of nobody"); other != 1 || nobody != 1 {
			t.Errorf("done in the first cycle: %d of the other app's, %d of nobody's", other, nobody)
		}
	})
}

// A long job that was interrupted goes on where it was, and nothing is done
// twice; the stale executor commits nothing.
func TestTakenOver(t *testing.T) {
	beside(t, func(t *testing.T, one, two *store.DB, c *clock.Clock) {
		stale := false
		var first *Executor
		second := executor(t, two, counting(nil))
		first = executor(t, one, counting(func(ctx context.Context, h *jobs.Held, item int64) error {
			if item != 3 || stale {
				return nil
			}
			// It stands still here, and another goes on meanwhile.
			stale = true
			c.Move(over)
			cycle(t, second, 1)
			return nil
		}))
		enqueueFor(t, one, "a", "count", "5")
		cycle(t, first, 1)
		if n := noted(t, one, "all"); n != 5 {
			t.Errorf("%d items were done, want 5", n)
		}
		depth(t, one, 0)
	})
}

// Progress renews the lease and the attempts; without it five attempts end the
// job.
func TestAttemptsCountWithoutProgress(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e := executor(t, db, counting(func(ctx context.Context, h *jobs.Held, item int64) error {
			if item >= 7 {
				panic("poison")
			}
			return nil
		}))
		// It is interrupted after every item, more often than there are attempts.
		enqueueFor(t, db, "a", "count", "20")
		for range 7 {
			claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{"count"})
			if err != nil || len(claimed) != 1 {
				t.Fatal(claimed, err)
			}
			if claimed[0].Attempts > 2 {
				t.Fatalf("attempt %d of a job that gets on", claimed[0].Attempts)
			}
			if err := e.turn(t.Context(), jobs.Hold(db, claimed[0], jobs.Lease)); err != nil {
				t.Fatal(err)
			}
			c.Move(over)
		}
		for range 6 {
			if _, err := e.Cycle(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.Move(over)
		}
		depth(t, db, 0)
		if final := noted(t, db, "failed true"); final != 1 {
			t.Errorf("Failed was told %d times that it is final", final)
		}
		if n := noted(t, db, "all"); n != 7 {
			t.Errorf("%d items were done, want 7", n)
		}
	})
}

// A long job that gets nowhere has five turns; one whose executor dies each time
// has no sixth.
func TestFifthTurn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		turns := 0
		e := executor(t, db, counting(func(context.Context, *jobs.Held, int64) error {
			turns++
			return errKind
		}))
		enqueueFor(t, db, "a", "count", "1")
		for range 5 {
			cycle(t, e, 1)
			c.Move(over)
		}
		cycle(t, e, 0)
		if turns != 5 {
			t.Errorf("a job that fails had %d turns, want 5", turns)
		}
		turns = 0
		enqueueFor(t, db, "a", "count", "1")
		for range 5 {
			if claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{"count"}); err != nil ||
				len(claimed) != 1 {
				t.Fatal(claimed, err)
			}
			c.Move(over)
		}
		cycle(t, e, 1)
		depth(t, db, 0)
		if turns != 0 {
			t.Errorf("a job that was interrupted five times had %d turns more", turns)
		}
	})
}

// A job that waits gives its lease back until then.
func TestLater(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		var outcomes []string
		waited := false
		kind := counting(func(ctx context.Context, h *jobs.Held, item int64) error {
			if item == 2 && !waited {
				waited = true
				return h.Later(ctx, db.Now().Add(time.Minute))
			}
			return nil
		})
		e := New(Options{DB: db, Log: executor(t, db).Log, Kinds: []jobs.Kind{kind},
			Observe: func(_, o string) { outcomes = append(outcomes, o) }})
		enqueueFor(t, db, "a", "count", "4")
		cycle(t, e, 1)
		c.Move(time.Minute - time.Millisecond)
		cycle(t, e, 0)
		c.Move(time.Millisecond)
		cycle(t, e, 1)
		depth(t, db, 0)
		if fmt.Sprint(outcomes) != "[waiting done]" {
			t.Errorf("outcomes %v", outcomes)
		}
	})
}

// Each attempt of a job that fails is counted, and the last one as given up.
func TestFailuresAreCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		var outcomes []string
		e := New(Options{DB: db, Log: executor(t, db).Log, Kinds: []jobs.Kind{(&failures{}).kind()},
			Observe: func(kind, o string) { outcomes = append(outcomes, kind+" "+o) }})
		enqueue(t, db, "fail", "x")
		if _, err := db.Exec(t.Context(), "UPDATE job SET attempts = 3"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			cycle(t, e, 1)
			c.Move(24 * time.Hour)
		}
		depth(t, db, 0)
		if fmt.Sprint(outcomes) != "[fail failed fail given_up]" {
			t.Errorf("outcomes %v", outcomes)
		}
	})
}

// A turn that takes long keeps its lease; when it lost it all the same, its
// context ends.
func TestRenewal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		const lease = 30 * time.Millisecond // of the renewing timer; the database has its own clock
		waits, renewed := make(chan struct{}), make(chan struct{})
		e := executor(t, db, counting(func(ctx context.Context, h *jobs.Held, item int64) error {
			switch item {
			case 0: // nothing else lengthens the lease now
				c.Move(time.Minute)
				close(waits)
				select {
				case <-renewed:
				case <-t.Context().Done():
				}
			case 1:
				if _, err := db.Exec(ctx, "UPDATE job SET lease_no = lease_no + 1"); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
					if !errors.Is(context.Cause(ctx), jobs.ErrLeaseLost) {
						t.Errorf("the context ended for %v", context.Cause(ctx))
					}
				case <-time.After(20 * time.Second):
					t.Error("the turn was not told that its lease is lost")
				}
				return ctx.Err() // which is no failure of the job
			}
			return nil
		}))
		e.Lease = lease
		var outcomes []string
		e.Observe = func(_, outcome string) { outcomes = append(outcomes, outcome) }
		enqueueFor(t, db, "a", "count", "5")
		var running sync.WaitGroup
		running.Go(func() {
			if n, err := e.Cycle(t.Context()); err != nil || n != 1 {
				t.Errorf("%d jobs, %v", n, err)
			}
		})
		<-waits
		storetest.Eventually(t, "the lease is renewed", func() bool {
			due, err := store.One(t.Context(), db, store.Value[int64], "SELECT run_after FROM job")
			if err != nil {
				t.Fatal(err)
			}
			return clock.Instant(due) > c.Now()
		})
		close(renewed)
		running.Wait()
		if n := noted(t, db, "all"); n != 1 {
			t.Errorf("%d items, want the one before the lease was lost", n)
		}
		if !slices.Equal(outcomes, []string{"lease_lost"}) {
			t.Errorf("outcomes %q", outcomes)
		}
	})
}

// An attempt ends only after the renewal of its lease has stopped.
func TestRenewalEndsFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		begun, observed, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		renewing := sync.OnceFunc(func() {
			close(begun)
			defer close(ended)
			select {
			case <-observed:
				t.Error("an attempt has ended, and its lease is being renewed")
			case <-time.After(200 * time.Millisecond):
			}
		})
		e := executor(t, db, counting(func(context.Context, *jobs.Held, int64) error {
			<-begun
			return nil
		}))
		e.Lease = 30 * time.Millisecond
		e.Observe = func(string, string) { close(observed) }
		enqueueFor(t, db, "a", "count", "1")
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if strings.HasPrefix(query, "UPDATE job SET run_after = ? WHERE id = ? AND lease_no = ?") {
				renewing()
			}
			return nil
		})
		if n, err := e.Cycle(ctx); err != nil || n != 1 {
			t.Errorf("%d jobs, %v", n, err)
		}
		<-ended
	})
}

// At the start of the only executor, what its predecessor had is due after the
// wait of its attempts, and what waited for a time longer than that no more.
func TestTakeOver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e := executor(t, db, noteKind)
		enqueue(t, db, "note", "killer")
		for _, wait := range []time.Duration{1, 2, 4, 8} {
			claim(t, db, 1) // and its executor dies
			if err := jobs.TakeOver(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			_, due, err := jobs.Depth(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if after := due.Sub(c.Now()); after < wait*time.Second || after > wait*time.Second*5/4 {
				t.Errorf("after an interruption it waits %s, want %d s and up to a quarter more", after, wait)
			}
			c.Set(due)
		}
		cycle(t, e, 1)
		depth(t, db, 0)
	})
}

// A long job that takes its time holds up neither short ones nor other long
// ones.
func TestSlowTurn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		entered, leave := make(chan struct{}), make(chan struct{})
		slow := jobs.Kind{Name: "slow", Turn: func(ctx context.Context, h *jobs.Held) error {
			close(entered)
			<-leave
			return h.Finish(ctx, func(tx *store.Tx) error { return note(ctx, tx, "slow") })
		}}
		e := executor(t, db, noteKind, slow, counting(nil))
		others := make(chan struct{}, 2) // the short job, and the other long one at its end
		e.Observe = func(kind, outcome string) {
			if kind != "slow" && outcome == "done" {
				others <- struct{}{}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx) })
		enqueueFor(t, db, "a", "slow", "")
		<-entered
		enqueueFor(t, db, "b", "note", "beside")
		enqueueFor(t, db, "c", "count", "30")
		for range cap(others) {
			select {
			case <-others:
			case <-time.After(20 * time.Second):
				t.Fatal("other jobs wait for a slow one")
			}
		}
		if beside, all := noted(t, db, "beside"), noted(t, db, "all"); beside != 1 || all != 30 {
			t.Errorf("%d short jobs and %d items are done, want 1 and 30", beside, all)
		}
		cancel()
		close(leave) // what is under way is finished
		running.Wait()
		if noted(t, db, "slow") != 1 {
			t.Error("the job under way at the end is not finished")
		}
	})
}

// A claim takes no more than it may, whatever the planner thinks of the table.
func TestClaimLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		for _, known := range []int{0, 1, 2} {
			if db.Dialect().Name == "postgres" {
				if _, err := db.Exec(t.Context(), "ANALYZE job"); err != nil {
					t.Fatal(err)
				}
			}
			for range 30 {
				enqueueFor(t, db, "a", "note", "x")
			}
			for want := 30; want > 0; want -= 10 {
				claim(t, db, 10)
			}
			if _, err := db.Exec(t.Context(), "DELETE FROM job"); err != nil {
				t.Fatal(err)
			}
			for range known + 1 {
				enqueueFor(t, db, "a", "note", "x")
			}
			c.Move(over)
		}
	})
}

// Jobs that wait for servers of strangers have places of their own: with all of them
// taken, other long jobs go on.
func TestOutside(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		var waiting atomic.Int64
		answer := make(chan struct{})
		e := executor(t, db, counting(nil), jobs.Kind{Name: "outside", Outside: true,
			Turn: func(ctx context.Context, h *jobs.Held) error {
				waiting.Add(1)
				<-answer
				return h.Finish(ctx, func(tx *store.Tx) error { return note(ctx, tx, "answered") })
			}})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx) })
		defer running.Wait()
		defer stop()
		for range 12 {
			enqueueFor(t, db, "a", "outside", "x")
		}
		storetest.Eventually(t, "all places are taken", func() bool { return waiting.Load() == 10 })
		enqueueFor(t, db, "b", "count", "1")
		storetest.Eventually(t, "another long job is done", func() bool { return noted(t, db, "all") == 1 })
		if n := waiting.Load(); n != 10 {
			t.Errorf("%d jobs wait for strangers", n)
		}
		close(answer)
		storetest.Eventually(t, "the others are done", func() bool { return noted(t, db, "answered") == 12 })
	})
}
