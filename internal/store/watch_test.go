package store_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A statement that takes longer than a time is logged, by its text alone: inside a transaction and
// outside, and whether it reads or writes.
func TestSlowStatements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, test := range []struct {
			after  time.Duration
			logged bool
		}{{time.Nanosecond, true}, {time.Hour, false}, {0, false}} {
			var log strings.Builder
			db.LogSlow(test.after, slog.New(slog.NewTextHandler(&log, nil)))
			const insert = "INSERT INTO installation (name,\n value) VALUES (?, ?)"
			if _, err := db.Exec(t.Context(), insert, "a"+test.after.String(), "personal"); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Exists(t.Context(), db, "SELECT 1 FROM installation WHERE value = ?", "personal"); err != nil {
				t.Fatal(err)
			}
			if err := db.InTx(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(t.Context(), insert, "b"+test.after.String(), "personal"); err != nil {
					return err
				}
				_, err := store.All(t.Context(), tx, store.Value[string], "SELECT name FROM installation WHERE value = ?", "personal")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(t.Context(), "DELETE FROM nothing"); err == nil {
				t.Fatal("a table that there is not was emptied")
			}
			text := log.String()
			for statement, times := range map[string]int{
				`failed=false statement="INSERT INTO installation (name, value) VALUES (?, ?)"`: 2,
				`failed=false statement="SELECT 1 FROM installation WHERE value = ?"`:           1,
				`failed=false statement="SELECT name FROM installation WHERE value = ?"`:        1,
				`failed=true statement="DELETE FROM nothing"`:                                   1,
			} {
				if !test.logged {
					times = 0
				}
				if got := strings.Count(text, statement); got != times {
					t.Errorf("after %s: %s is logged %d times, want %d:\n%s", test.after, statement, got, times, text)
				}
			}
			if strings.Contains(text, "personal") || strings.Count(text, "took_ms=") != strings.Count(text, "\n") {
				t.Errorf("the log:\n%s", text)
			}
		}
		db.LogSlow(0, nil)
	})
}
