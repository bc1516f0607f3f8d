package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// endless is a query without an end.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"

// While all long queries that may run at once do not end, and others wait for them,
// everything else is done. They end when their clients leave, those that wait too.
func TestLongReadsStopNobody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		var reads sync.WaitGroup
		for range db.LongReads() + 4 {
			reads.Go(func() {
				_, err := store.One(ctx, db.Long(), store.Value[int64], endless)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("a long query ended with %v", err)
				}
			})
		}
		storetest.Eventually(t, "long queries run", func() bool { return db.LongBusy() == db.LongReads() })
		if err := db.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		for range 20 {
			if _, err := store.One(t.Context(), db, store.Value[int64], "SELECT count(*) FROM sequence"); err != nil {
				t.Error(err)
			}
		}
		if _, err := db.Exec(t.Context(), "INSERT INTO sequence (name, value) VALUES (?, ?)", "long", 1); err != nil {
			t.Error(err)
		}
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), "UPDATE sequence SET value = 2 WHERE name = ?", "long")
			return err
		}); err != nil {
			t.Error(err)
		}
		if busy := db.LongBusy(); busy != db.LongReads() {
			t.Errorf("%d long queries run, want %d", busy, db.LongReads())
		}
		leave()
		reads.Wait()
		// The connections can be used again, all of them.
		for range db.LongReads() {
			rows, err := db.Long().Rows(t.Context(), "SELECT value FROM sequence WHERE name = ?", "long")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if !rows.Next() {
				t.Errorf("no row: %v", rows.Err())
			} else if value, err := store.Value[int64](rows); err != nil || value != 2 {
				t.Errorf("read %d, %v; want 2", value, err)
			}
		}
	})
}

// A long query ends at the deadline of its context.
func TestLongReadsEndAtTheDeadline(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := store.One(ctx, db.Long(), store.Value[int64], endless)
		if !errors.Is(err, context.DeadlineExceeded) || !db.IsAway(err) {
			t.Errorf("ended with %v", err)
		}
		storetest.Eventually(t, "the connection is free", func() bool { return db.LongBusy() == 0 })
	})
}

// PostgreSQL ends a long query also when it does not learn that its client left, and no
// other statement.
func TestPostgresEndsLongReads(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "postgres"), &clock.Clock{})
	for want, q := range map[string]store.Q{"10s": db.Long(), "0": db} {
		if got, err := store.One(t.Context(), q, store.Value[string], "SHOW statement_timeout"); err != nil || got != want {
			t.Errorf("timeout %q, %v; want %q", got, err, want)
		}
	}
}
