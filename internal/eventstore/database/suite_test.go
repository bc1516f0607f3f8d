package database_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func TestEngine(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		enginetest.Run(t, func(*testing.T) eventstore.Engine { return database.Open(db) })
	})
}

// The last line of the migration is for SQLite only; if it stopped working,
// events would take twice the space.
func TestEventsLieInTheirKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		if db.Dialect().Name != "sqlite" {
			return
		}
		found, err := store.Exists(context.Background(), db, "SELECT 1 FROM pragma_table_list('event') WHERE wr = 1")
		if err != nil || !found {
			t.Fatalf("event is WITHOUT ROWID: %v, %v", found, err)
		}
	})
}

// Erase goes step by step and leaves nothing out, neither at the ends of steps nor
// after the last whole one.
func TestStepsOfErase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s := database.Open(db)
		events := make([]clicklog.Event, 20_001)
		for i := range events {
			events[i] = clicklog.Event{ID: int64(i + 1), At: storetest.Start + clock.Instant(i/3), Install: 1,
				Type: clicklog.Click, Link: clicklog.Link{ID: "one", AppID: "a"}}
		}
		for _, n := range []int{1, 9_999, 10_000, 10_001, 20_001} {
			if err := s.Append(t.Context(), enginetest.Batch(events[:n]...)); err != nil {
				t.Fatal(err)
			}
			erasure := []eventstore.Erasure{{LinkID: "one"}, {Install: 1}}[n%2]
			if deleted, _, err := s.Erase(t.Context(), erasure); deleted != int64(n) || err != nil {
				t.Errorf("%d of %d events deleted, %v", deleted, n, err)
			}
		}
	})
}

// A text goes when the last event with it is past the retention, and comes back under
// another number; one that is in use stays, and so does one that was added before days
// were noted.
func TestSweepTexts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		s := database.Open(db)
		id := int64(0)
		click := func(referrers ...string) {
			t.Helper()
			var events []clicklog.Event
			for _, referrer := range referrers {
				id++
				events = append(events, clicklog.Event{ID: id, At: c.Now(), Type: clicklog.Click, ReferrerHost: referrer,
					Link: clicklog.Link{ID: "one", AppID: "a"}})
			}
			if err := s.Append(t.Context(), enginetest.Batch(events...)); err != nil {
				t.Fatal(err)
			}
		}
		swept := func(before clock.Instant, want ...string) {
			t.Helper()
			if _, err := s.Sweep(t.Context(), before, 100); err != nil {
				t.Fatal(err)
			}
			texts, err := store.All(t.Context(), db, store.Value[string], "SELECT value FROM event_text ORDER BY value")
			if err != nil || !slices.Equal(texts, want) {
				t.Errorf("%v, %v; want %v", texts, err, want)
			}
		}
		day := storetest.Start.Add(-12 * time.Hour)
		c.Set(day)
		click("used", "unused")
		if _, err := db.Exec(t.Context(), "INSERT INTO event_text (no, value) VALUES (9, 'earlier')"); err != nil {
			t.Fatal(err)
		}
		swept(day, "earlier", "unused", "used")
		c.Set(day.Add(24*time.Hour - 1))
		click("used")
		c.Set(day.Add(24 * time.Hour))
		click("used", "used")
		swept(c.Now(), "earlier", "unused", "used") // long before the retention
		c.Set(day.Add(401*24*time.Hour - 1))
		swept(c.Now(), "earlier", "unused", "used")
		c.Set(day.Add(401 * 24 * time.Hour))
		swept(day.Add(24*time.Hour-1), "earlier", "unused", "used") // events of that day are kept
		swept(day.Add(24*time.Hour), "used")
		click("unused")
		rows, err := eventstore.Count(t.Context(), s, eventstore.Query{Filter: eventstore.Filter{AppID: "a", Start: c.Now(),
			End: c.Now() + 1}, Grouping: eventstore.Grouping{By: eventstore.ByReferrer}})
		if err != nil || len(rows) != 1 || rows[0].Value != "unused" {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}
