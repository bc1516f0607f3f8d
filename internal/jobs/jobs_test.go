package jobs_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Wake makes a job due that was put off, and leaves alone one that is under way
// and one that waits after a failure.
func TestWake(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		inTx := func(f func(tx *store.Tx) error) {
			t.Helper()
			if err := db.InTx(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		for payload, wakes := range map[string]bool{"later": true, "leased": false, "failed": false} {
			inTx(func(tx *store.Tx) error { return jobs.Enqueue(t.Context(), tx, payload, payload, "", actor.Grant{}) })
			claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{payload})
			if err != nil || len(claimed) != 1 {
				t.Fatalf("%s: %v, %v", payload, claimed, err)
			}
			switch payload {
			case "later":
				if err := jobs.Hold(db, claimed[0], jobs.Lease).
					Later(t.Context(), db.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			case "failed":
				inTx(func(tx *store.Tx) error { return jobs.Retry(t.Context(), tx, claimed[0]) })
			}
			inTx(func(tx *store.Tx) error { return jobs.Wake(t.Context(), tx, payload, payload) })
			if again, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{payload}); err != nil ||
				(len(again) == 1) != wakes {
				t.Errorf("%s: %v, %v", payload, again, err)
			}
		}
		// A job that is due keeps its place.
		inTx(func(tx *store.Tx) error { return jobs.Enqueue(t.Context(), tx, "a due one", "", "", actor.Grant{}) })
		before := queue(t, db)[0]
		c.Move(time.Second)
		inTx(func(tx *store.Tx) error { return jobs.Wake(t.Context(), tx, "a due one", "") })
		if after := queue(t, db)[0]; after != before || before.kind != "a due one" {
			t.Errorf("%v was due, and is woken as %v", before, after)
		}
	})
}

// What is woken is the one job of a kind with a payload, and executors are told.
func TestWakeOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		kinds := []string{"kind", "other"}
		claim := func() (all []string) {
			t.Helper()
			claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 9, kinds)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range claimed {
				all = append(all, j.Kind+" "+j.Payload)
				if err := jobs.Hold(db, j, jobs.Lease).Later(t.Context(), db.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			return all
		}
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			return errors.Join(jobs.Enqueue(t.Context(), tx, "kind", "a", "", actor.Grant{}),
				jobs.Enqueue(t.Context(), tx, "kind", "b", "", actor.Grant{}),
				jobs.Enqueue(t.Context(), tx, "other", "a", "", actor.Grant{}))
		}); err != nil {
			t.Fatal(err)
		}
		if all := claim(); len(all) != 3 {
			t.Fatalf("%q are claimed", all)
		}
		told := db.Listen(jobs.Topic("kind"))
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			return jobs.Wake(t.Context(), tx, "kind", "a")
		}); err != nil {
			t.Fatal(err)
		}
		isTold(t, told)
		if all := claim(); len(all) != 1 || all[0] != "kind a" {
			t.Errorf("%q are woken", all)
		}
		storetest.Faulty(t, func(ctx context.Context) error {
			return db.InTx(ctx, func(tx *store.Tx) error { return jobs.Wake(ctx, tx, "kind", "a") })
		})
	})
}

// Executors are told of a new job of their kinds, once it is committed.
func TestEnqueueTells(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		told := db.Listen(jobs.Topic("work"))
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			if err := jobs.Enqueue(t.Context(), tx, "work", "", "", actor.Grant{}); err != nil {
				return err
			}
			select {
			case <-told:
				t.Error("executors are told of a job that they cannot see")
			default:
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		isTold(t, told)
	})
}

// isTold fails unless executors are told soon.
func isTold(t *testing.T, told <-chan struct{}) {
	t.Helper()
	select {
	case <-told:
	case <-time.After(storetest.Patience):
		t.Error("executors are not told")
	}
}

// What cannot be read of the queue is an error, not an empty queue.
func TestFailedReads(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, app := range []string{"a", "b"} {
			if err := db.InTx(t.Context(), func(tx *store.Tx) error {
				return jobs.Enqueue(t.Context(), tx, "work", "", app, actor.Grant{})
			}); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Faulty(t, func(ctx context.Context) error { _, _, err := jobs.Depth(ctx, db); return err })
		storetest.Faulty(t, func(ctx context.Context) error { return jobs.TakeOver(ctx, db) })
		storetest.Faulty(t, func(ctx context.Context) error {
			_, err := jobs.Claim(ctx, db, jobs.Lease, 1, []string{"work"})
			return err
		})
	})
}

// An executor that finds nothing due sends one query.
func TestNothingIsDue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx, outcome := storetest.FailNth(t.Context(), 0)
		claimed, err := jobs.Claim(ctx, db, jobs.Lease, 1, []string{"work"})
		if _, asked := outcome(); err != nil || len(claimed) > 0 || asked != 2 { // a query and its row
			t.Errorf("%v, %v, after %d statements", claimed, err, asked)
		}
	})
}

// A job whose executor is gone is due after its lease and a wait that doubles, and not
// before.
func TestWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			return jobs.Enqueue(t.Context(), tx, "work", "", "", actor.Grant{})
		}); err != nil {
			t.Fatal(err)
		}
		claims := func(want int) {
			t.Helper()
			claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{"work"})
			if err != nil || len(claimed) != want {
				t.Fatalf("%v, %v; want %d jobs", claimed, err, want)
			}
		}
		for _, wait := range []time.Duration{1, 2, 4, 8, 8} {
			claims(1)
			due := clock.Instant(queue(t, db)[0].at)
			waits := due.Sub(db.Now()) - 30*time.Second
			if wait *= time.Second; waits < wait || waits > wait+wait/4 {
				t.Errorf("the job waits %s, want %s and up to a quarter more", waits, wait)
			}
			c.Set(due.Add(-time.Microsecond))
			claims(0)
			c.Set(due)
		}
	})
}

// Under a lease of before nothing is written: not while another executor has the
// job, and not while the job waits after it was given back.
func TestOldLease(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		claim := func(kind string) jobs.Job {
			t.Helper()
			claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{kind})
			if err != nil || len(claimed) != 1 {
				t.Fatalf("%s: %v, %v", kind, claimed, err)
			}
			return claimed[0]
		}
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			return errors.Join(jobs.Enqueue(t.Context(), tx, "work", "", "", actor.Grant{}),
				jobs.Enqueue(t.Context(), tx, "other", "", "", actor.Grant{}))
		}); err != nil {
			t.Fatal(err)
		}
		other := claim("other")
		first := jobs.Hold(db, claim("work"), jobs.Lease)
		c.Move(time.Second)
		if err := first.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if due := clock.Instant(queue(t, db)[1].at).Sub(db.Now()); due < 31*time.Second || due > 31250*time.Millisecond {
			t.Errorf("the job is due in %s, want its lease of 30 s and the first wait", due)
		}
		c.Move(jobs.Lease + 2*time.Second)
		second := jobs.Hold(db, claim("work"), jobs.Lease)
		writesNothing(t, first, other)
		if first.Later(t.Context(), db.Now()) == nil || first.Ended() {
			t.Error("a job that another executor has was given back")
		}
		if err := second.Later(t.Context(), db.Now().Add(time.Hour)); err != nil || !second.Ended() {
			t.Fatal(err, second.Ended())
		}
		writesNothing(t, second, other)
	})
}

// writesNothing tries everything that writes under a lease, under an old one.
// other is a job whose lease holds.
func writesNothing(t *testing.T, old *jobs.Held, other jobs.Job) {
	t.Helper()
	ctx := t.Context()
	effect := func(tx *store.Tx) error { return jobs.Enqueue(ctx, tx, "effect", "", "", actor.Grant{}) }
	inTx := func(f func(*store.Tx) error) func() error { return func() error { return old.DB.InTx(ctx, f) } }
	writers := map[string]func() error{
		"InTx":                func() error { return old.InTx(ctx, effect) },
		"Finish":              func() error { return old.Finish(ctx, effect) },
		"FinishReadCommitted": func() error { return old.FinishReadCommitted(ctx, effect) },
		"Later":               func() error { return old.Later(ctx, old.DB.Now()) },
		"Renew":               func() error { return old.Renew(ctx) },
		"jobs.Finish":         inTx(func(tx *store.Tx) error { return jobs.Finish(ctx, tx, old.Job) }),
		"jobs.FinishAll": inTx(func(tx *store.Tx) error {
			return jobs.FinishAll(ctx, tx, []jobs.Job{other, old.Job})
		}),
		"jobs.Retry": inTx(func(tx *store.Tx) error { return jobs.Retry(ctx, tx, old.Job) }),
	}
	for m := range reflect.TypeFor[*jobs.Held]().Methods() {
		writes := m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]()
		if _, tried := writers[m.Name]; writes && !tried {
			t.Errorf("Held.%s writes and is not tried", m.Name)
		}
	}
	before := queue(t, old.DB)
	for name, write := range writers {
		if err := write(); !errors.Is(err, jobs.ErrLeaseLost) {
			t.Errorf("%s under an old lease = %v, want ErrLeaseLost", name, err)
		}
		if after := queue(t, old.DB); !slices.Equal(after, before) {
			t.Fatalf("%s under an old lease left %v, before it there was %v", name, after, before)
		}
	}
}

// row is what the queue holds of a job.
type row struct {
	kind                string
	lease, attempts, at int64
}

// queue returns all jobs.
func queue(t *testing.T, db *store.DB) []row {
	t.Helper()
	all, err := store.All(t.Context(), db, func(r store.Row) (j row, err error) {
		err = r.Scan(&j.kind, &j.lease, &j.attempts, &j.at)
		return j, err
	}, "SELECT kind, lease_no, attempts, run_after FROM job ORDER BY kind")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Executors of several processes look for jobs at the same time. A job that another one takes after this one
// has found it due, and before it locks it, is not taken twice.
func TestClaimBesideAnother(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "postgres"), new(clock.Clock))
	if err := db.InTx(t.Context(), func(tx *store.Tx) error {
		return jobs.Enqueue(t.Context(), tx, "kind", "", "", actor.Grant{})
	}); err != nil {
		t.Fatal(err)
	}
	// A claim sees the jobs as they are, waits for this advisory lock, and only then locks what it takes.
	for _, statement := range []string{
		`CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
			IF current_query() LIKE '%UPDATE job %' THEN PERFORM pg_advisory_xact_lock_shared(1); END IF;
			RETURN TRUE;
		END $$`,
		"ALTER TABLE job RENAME TO stored_job",
		"CREATE VIEW job AS SELECT * FROM stored_job WHERE pause()",
	} {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	claimed := make(chan []jobs.Job, 1)
	if err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock(1)"); err != nil {
			return err
		}
		go func() {
			found, err := jobs.Claim(t.Context(), db, jobs.Lease, 9, []string{"kind"})
			if err != nil {
				t.Error(err)
			}
			claimed <- found
		}()
		storetest.Eventually(t, "the claim has found a job", func() bool { return storetest.Waiting(t, db.Urgent()) == 1 })
		return tx.Send(t.Context(), "UPDATE stored_job SET lease_no = 1, run_after = ?", tx.Now.Add(jobs.Lease))
	}); err != nil {
		t.Fatal(err)
	}
	if found := <-claimed; len(found) > 0 {
		t.Errorf("%+v were claimed, which another executor has taken", found)
	}
}
