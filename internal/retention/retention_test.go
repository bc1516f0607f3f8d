package retention_test

import (
	"errors"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

const day = 24 * time.Hour

func TestJump(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		round := func(moved time.Duration, confirmed, jumped bool) {
			t.Helper()
			c.Move(moved)
			var jump *retention.Jump
			if err := retention.Begin(t.Context(), db, confirmed); errors.As(err, &jump) != jumped ||
				!jumped && err != nil {
				t.Errorf("moved by %s: %v", moved, err)
			}
			if err := retention.Holds(t.Context(), db); errors.As(err, &jump) != jumped || !jumped && err != nil {
				t.Errorf("moved by %s, asked: %v", moved, err)
			}
		}
		round(0, false, false)
		for range 365 {
			round(day, false, false)
		}
		round(day+time.Millisecond, false, true)
		round(10*365*day, false, true)
		round(-10*365*day-time.Millisecond, false, false) // the clock is right again
		round(7*day, false, true)
		round(0, true, false) // it stood still for a week
		round(0, false, false)
		round(day, false, false)
		round(day+time.Millisecond, false, true)
		round(-time.Millisecond, false, false)
		// Back by a day, and ahead again: less is removed meanwhile, and no more after.
		round(-day, false, false)
		round(2*day, false, false)
		round(-day-time.Millisecond, false, false)
		round(day+time.Millisecond, false, true)
	})
}

// Rounds follow each other closely, and are noted often enough.
func TestRounds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		for range 20 * 24 {
			if err := retention.Begin(t.Context(), db, false); err != nil {
				t.Fatal(err)
			}
			c.Move(6 * time.Minute)
		}
		c.Move(day - 18*time.Minute)
		if err := retention.Begin(t.Context(), db, false); err != nil {
			t.Error(err)
		}
	})
}
