package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// How a database is set up is read from it.
func TestCheckSettings(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		found, all, err := db.CheckSettings(t.Context())
		want, troubles := "journal mode wal, synchronous 2, foreign keys 1, write-ahead log of 0 MiB", 0
		if db.Dialect().Name == "postgres" {
			want, troubles = "fsync off, synchronous_commit off, ", 3 // the server of tests is set up to be fast
		}
		if err != nil || !strings.Contains(found, want) || len(all) != troubles {
			t.Errorf("%s, %+v, %v", found, all, err)
		}
	})
}

// The clock of PostgreSQL is compared with this machine's, ahead and behind.
func TestClockAhead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		postgres := db.Dialect().Name == "postgres"
		for _, off := range []time.Duration{-time.Hour, time.Hour} {
			c.Set(clock.At(time.Now()).Add(-off))
			ahead, err := db.ClockAhead(t.Context())
			if err != nil || postgres && (ahead-off).Abs() > time.Minute || !postgres && ahead != 0 {
				t.Errorf("the database's clock is %s ahead, want %s: %v", ahead, off, err)
			}
		}
	})
	db := storetest.Open(t, storetest.Address(t, "postgres"), &clock.Clock{})
	if ahead, err := db.ClockAhead(t.Context()); err != nil || ahead.Abs() > time.Millisecond {
		t.Errorf("the clock of one machine is %s ahead of itself, %v", ahead, err)
	}
}
