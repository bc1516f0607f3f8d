package eventstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Clicks that are not stored are counted by app and UTC day, by all processes together,
// also those of a time in which the database was away, and until their retention ends.
func TestUnstoring(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		day := storetest.Start - storetest.Start%clock.Instant((24*time.Hour).Microseconds())
		next := day.Add(24 * time.Hour)
		one, two := eventstore.NewUnstoring(db, slog.New(slog.DiscardHandler)),
			eventstore.NewUnstoring(db, slog.New(slog.DiscardHandler))
		wantClicks := func(app string, from, to clock.Instant, want int64) {
			t.Helper()
			if n, err := eventstore.Unstored(t.Context(), db, app, from, to); err != nil || n != want {
				t.Errorf("app %s from %s to %s: %d, %v; want %d", app, from, to, n, err, want)
			}
		}
		add := func(u *eventstore.Unstoring, app string, at clock.Instant, n int) {
			t.Helper()
			for range n {
				if !u.Add(app, at) {
					t.Error("not counted")
				}
			}
		}
		save := func(u *eventstore.Unstoring) error { return u.Save(t.Context()) }
		add(one, "a", day, 3)
		add(one, "a", next-1, 2)
		add(one, "a", next, 7)
		add(one, "b", day, 1)
		add(two, "a", day, 10)
		if save(one) != nil || save(two) != nil || save(one) != nil {
			t.Fatal("not saved")
		}
		wantClicks("a", day, next-1, 15)
		wantClicks("a", day, next, 22)
		wantClicks("a", next, next, 7)
		wantClicks("b", day, next, 1)

		if _, err := db.Exec(t.Context(), "ALTER TABLE event_unstored RENAME TO away"); err != nil {
			t.Fatal(err)
		}
		add(one, "b", day, 1)
		if save(one) == nil {
			t.Error("saved to nowhere")
		}
		add(one, "b", day, 1)
		if _, err := db.Exec(t.Context(), "ALTER TABLE away RENAME TO event_unstored"); err != nil {
			t.Fatal(err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		one.Run(ended) // saves once more at its end
		wantClicks("b", day, next, 3)

		if n, err := eventstore.SweepUnstored(t.Context(), db, next, 1); err != nil || n != 1 {
			t.Errorf("swept %d, %v; want 1", n, err)
		}
		if n, err := eventstore.SweepUnstored(t.Context(), db, next, 10); err != nil || n != 1 {
			t.Errorf("swept %d, %v; want 1", n, err)
		}
		wantClicks("a", day, next, 7)
	})
}

// Memory is bounded: for what has no place, Add says so.
func TestUnstoringIsBounded(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	u := eventstore.NewUnstoring(db, slog.New(slog.DiscardHandler))
	for i := range 10_000 {
		if !u.Add(fmt.Sprint("app", i), storetest.Start) {
			t.Fatalf("app %d is not counted", i+1)
		}
	}
	if u.Add("another", storetest.Start) || !u.Add("app0", storetest.Start) {
		t.Error("the bound does not hold, or holds for what has a place")
	}
	if err := u.Save(t.Context()); err != nil || !u.Add("another", storetest.Start) {
		t.Errorf("%v; or there is no place after it was saved", err)
	}
	if n, err := store.One(t.Context(), db, store.Value[int64], "SELECT sum(clicks) FROM event_unstored"); n != 10_001 ||
		err != nil {
		t.Errorf("%d saved, %v; want 10001", n, err)
	}
}

// A part that cannot be saved stays in memory, and no part is saved twice.
func TestUnstoringSavesParts(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	u := eventstore.NewUnstoring(db, slog.New(slog.DiscardHandler))
	for i := range 1200 {
		u.Add(fmt.Sprintf("app%04d", i), storetest.Start)
	}
	wantSaved := func(want int64) {
		t.Helper()
		n, err := store.One(t.Context(), db, store.Value[int64], "SELECT coalesce(sum(clicks), 0) FROM event_unstored")
		if n != want || err != nil {
			t.Errorf("%d saved, %v; want %d", n, err, want)
		}
	}
	if _, err := db.Exec(t.Context(), `CREATE TRIGGER refuse BEFORE INSERT ON event_unstored WHEN NEW.app_id = 'app0700'
		BEGIN SELECT RAISE(FAIL, 'refused'); END`); err != nil {
		t.Fatal(err)
	}
	if u.Save(t.Context()) == nil {
		t.Error("saved what the database refuses")
	}
	wantSaved(500)
	if _, err := db.Exec(t.Context(), "DROP TRIGGER refuse"); err != nil {
		t.Fatal(err)
	}
	if err := u.Save(t.Context()); err != nil {
		t.Error(err)
	}
	wantSaved(1200)
}

// Counts that find no room in memory after a failure are told.
func TestUnstoringTellsLosses(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	var told strings.Builder
	u := eventstore.NewUnstoring(db, slog.New(slog.NewTextHandler(&told, nil)))
	u.Add("first", storetest.Start)
	u.Restore(10_000)
	if !strings.Contains(told.String(), "events=1") {
		t.Errorf("told: %s", told.String())
	}
}
