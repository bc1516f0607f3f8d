package loaded_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// batch returns events of some runs, with ids that rise from 1.
func batch(runs ...clicklog.Run) *clicklog.Batch {
	b := &clicklog.Batch{Runs: runs}
	for _, r := range runs {
		for range r.Ends {
			b.Events = append(b.Events, clicklog.Event{ID: int64(len(b.Events) + 1)})
		}
	}
	return b
}

// advance returns the ids of the fresh events of a batch.
func advance(t *testing.T, db *store.DB, b *clicklog.Batch) string {
	t.Helper()
	var ids []int64
	if err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		fresh, err := loaded.Clicks.Advance(t.Context(), tx, b)
		ids = nil
		for _, run := range fresh {
			for _, e := range run {
				ids = append(ids, e.ID)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(ids)
}

// What was loaded is known by the file and the position at which an event ends.
func TestAdvance(t *testing.T) {
	run := func(log string, file int64, ends ...int64) clicklog.Run {
		return clicklog.Run{Log: log, File: file, Ends: ends}
	}
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, c := range []struct {
			b     *clicklog.Batch
			fresh string
		}{
			{batch(run("a", 0, 10, 20)), "[1 2]"},
			{batch(run("a", 0, 10, 20)), "[]"},
			{batch(run("a", 0, 19, 20, 21)), "[3]"},
			{batch(run("b", 0, 10), run("a", 0, 21, 30), run("a", 1, 5, 8)), "[1 3 4 5]"},
			{batch(run("a", 0, 40), run("a", 1, 8)), "[]"}, // all of the file before
			{batch(run("a", 1, 8, 9), run("b", 0, 10, 11), run("a", 2, 1)), "[2 4 5]"},
			{&clicklog.Batch{Events: make([]clicklog.Event, 2)}, "[0 0]"}, // of no log
		} {
			if got := advance(t, db, c.b); got != c.fresh {
				t.Errorf("%+v: fresh are %s, want %s", c.b.Runs, got, c.fresh)
			}
		}
		got, err := loaded.Clicks.All(t.Context(), db)
		if want := map[string]loaded.Position{"a": {2, 1}, "b": {0, 11}}; err != nil || !maps.Equal(got, want) {
			t.Errorf("positions %v, %v; want %v", got, err, want)
		}
		if other, err := loaded.Events.All(t.Context(), db); err != nil || len(other) > 0 {
			t.Errorf("positions for another purpose: %v, %v", other, err)
		}
		uneven := []*clicklog.Batch{batch(run("c", 0, 1)), batch(run("c", 0, 1))}
		uneven[0].Events = nil
		uneven[1].Events = append(uneven[1].Events, clicklog.Event{})
		for _, b := range uneven {
			if err := db.InTx(t.Context(), func(tx *store.Tx) error {
				_, err := loaded.Clicks.Advance(t.Context(), tx, b)
				return err
			}); !errors.Is(err, loaded.ErrUneven) {
				t.Errorf("%d events for one position: %v", len(b.Events), err)
			}
		}
	})
}

// Of two processes that load the same log at the same moment one does, when the log is
// new and when it is not.
func TestAdvanceAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, end := range []int64{10, 20} {
			b := batch(clicklog.Run{Log: "a", Ends: []int64{end}})
			var fresh [2]int
			load := func(who int, meanwhile func()) error {
				return db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
					events, err := loaded.Clicks.Advance(t.Context(), tx, b)
					if err != nil {
						return err
					}
					fresh[who] = len(events[0])
					meanwhile()
					return nil
				})
			}
			other := make(chan error, 1)
			if err := load(0, func() {
				go func() { other <- load(1, func() {}) }()
				if db.Dialect().Name == "postgres" { // where transactions run beside one another
					storetest.Eventually(t, "the other one waits", func() bool {
						n, err := store.One(t.Context(), db.Urgent(), store.Value[int64], `SELECT count(*) FROM pg_stat_activity
							WHERE wait_event_type = 'Lock' AND datname = current_database()`)
						return err == nil && n > 0
					})
				}
			}); err != nil {
				t.Error(err)
			}
			err := <-other
			if fresh != [2]int{1, 0} || (err != nil) != (db.Dialect().Name == "postgres") {
				t.Errorf("up to %d: %v have loaded the event, the other one ended with %v", end, fresh, err)
			}
			if again := advance(t, db, b); again != "[]" {
				t.Errorf("up to %d: %s come again", end, again)
			}
		}
	})
}

// A process that finds the position of a log elsewhere than where it read it loads nothing: the
// file and the place in it must both be as they were.
func TestAdvanceOfAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		advance(t, db, batch(clicklog.Run{Log: "a", File: 1, Ends: []int64{10}}))
		for _, meanwhile := range []string{"file = 2", "position = 11"} {
			err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
				ctx := store.WithFaults(t.Context(), func(query string) error {
					if !strings.HasPrefix(query, "UPDATE") {
						return nil
					}
					_, err := tx.Exec(t.Context(), "UPDATE "+string(loaded.Clicks)+" SET "+meanwhile)
					return err
				})
				_, err := loaded.Clicks.Advance(ctx, tx, batch(clicklog.Run{Log: "a", File: 1, Ends: []int64{20}}))
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "another process") {
				t.Errorf("with %s meanwhile: %v", meanwhile, err)
			}
		}
		if got := advance(t, db, batch(clicklog.Run{Log: "a", File: 1, Ends: []int64{20}})); got != "[1]" {
			t.Errorf("fresh are %s", got)
		}
	})
}

// A position that has not moved since an instant is forgotten, and no other one.
func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		advance(t, db, batch(clicklog.Run{Log: "old", Ends: []int64{1}}, clicklog.Run{Log: "used", Ends: []int64{1}}))
		at := db.Now()
		now.Move(time.Second)
		advance(t, db, batch(clicklog.Run{Log: "old", Ends: []int64{1}}, clicklog.Run{Log: "used", Ends: []int64{1, 2}}))
		for _, c := range []struct {
			before clock.Instant
			logs   int
		}{{at, 2}, {at.Add(time.Microsecond), 1}} {
			if err := loaded.Clicks.Sweep(t.Context(), db, c.before); err != nil {
				t.Error(err)
			}
			if left, err := loaded.Clicks.All(t.Context(), db); err != nil || len(left) != c.logs {
				t.Errorf("swept before %s, left are %v, %v", c.before, left, err)
			}
		}
	})
}

// Where each log is, and when the last of them moved.
func TestWhereLogsAre(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		if at, err := loaded.Clicks.Newest(t.Context(), db); at != 0 || err != nil {
			t.Errorf("without a log: %d, %v", at, err)
		}
		for _, log := range []string{"a", "b"} {
			c.Move(time.Minute)
			advance(t, db, batch(clicklog.Run{Log: log, File: 3, Ends: []int64{10, 20}}))
		}
		moved := c.Now()
		c.Move(time.Minute)
		if at, err := loaded.Clicks.Newest(t.Context(), db); at != moved || err != nil {
			t.Errorf("the last one moved at %s, want %s, %v", at, moved, err)
		}
		positions, err := loaded.Clicks.All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if file, end := loaded.At(positions, "a"); file != 3 || end != 20 {
			t.Errorf("the log is loaded to %d of file %d", end, file)
		}
		if file, _ := loaded.At(positions, "unknown"); file >= 0 {
			t.Errorf("a log that is not known is loaded to file %d", file)
		}
	})
}
