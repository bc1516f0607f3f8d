package database_test

import (
	"context"
	"testing"

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
