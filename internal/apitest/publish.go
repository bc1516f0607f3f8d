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
	var both sync.WaitGroup
	defer both.Wait()
	if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "LOCK TABLE route IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		both.Go(publish)
		storetest.Eventually(t, "the publication has read", func() bool { return storetest.Waiting(t, i.DB) == 1 })
		var changed atomic.Bool
		both.Go(func() {
			change()
			changed.Store(true)
		})
		storetest.Eventually(t, "the change ends or waits", func() bool { return changed.Load() || storetest.Waiting(t, i.DB) == 2 })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
