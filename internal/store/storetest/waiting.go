package storetest

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
)

// Waiting returns how many statements wait for a lock in a database of PostgreSQL. It must be asked outside the
// transaction that holds the lock, as a transaction sees the same answer each time.
func Waiting(t testing.TB, q store.Q) int {
	t.Helper()
	n, err := store.One(t.Context(), q, store.Value[int], `SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
