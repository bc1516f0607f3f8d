package apitest

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// WhilePublished makes a change after a publication has read what it publishes, and before it confirms that. It returns
// when both have ended. It is for PostgreSQL alone: SQLite has one writer at a time.
func (i *Installation) WhilePublished(t testing.TB, publish, change func()) {
	t.Helper()
	waiting := func() int {
		n, err := store.One(t.Context(), i.DB, store.Value[int], `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var both sync.WaitGroup
	defer both.Wait()
	if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "LOCK TABLE route IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		both.Go(publish)
		storetest.Eventually(t, "the publication has read", func() bool { return waiting() == 1 })
		var changed atomic.Bool
		both.Go(func() {
			change()
			changed.Store(true)
		})
		storetest.Eventually(t, "the change ends or waits", func() bool { return changed.Load() || waiting() == 2 })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
