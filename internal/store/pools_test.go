package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// endless is a query without an end.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"

// While all connections of a view have queries that do not end, and others wait for
// them, what uses another view is done, and what is written. They end when their clients
// leave, those that wait too.
func TestNoViewStopsAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		views := map[string]*store.DB{"usual": db, "long": db.Long(), "urgent": db.Urgent()}
		for name, full := range views {
			t.Run(name, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				_, all := full.Busy()
				var reads sync.WaitGroup
				for range all + 4 {
					reads.Go(func() {
						if _, err := store.One(ctx, full, store.Value[int64], endless); !full.IsAway(err) {
							t.Errorf("a query without an end ended with %v", err)
						}
					})
				}
				storetest.Eventually(t, "all connections are used", func() bool { used, _ := full.Busy(); return used == all })
				waiting, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				if _, err := store.One(waiting, full, store.Value[int64], "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("waiting for a connection ended with %v", err)
				}
				for other, view := range views {
					if other == name {
						continue
					}
					if err := view.Ping(t.Context()); err != nil {
						t.Errorf("%s does not answer: %v", other, err)
					}
					for range 20 {
						if _, err := store.One(t.Context(), view, store.Value[int64], "SELECT count(*) FROM sequence"); err != nil {
							t.Errorf("%s: %v", other, err)
						}
					}
					if name == "usual" && db.Dialect().Name == "postgres" {
						continue // which writes over these connections
					}
					if err := db.InTx(t.Context(), func(tx *store.Tx) error {
						_, err := tx.Exec(t.Context(), "UPDATE sequence SET value = 2 WHERE name = ?", "long")
						return err
					}); err != nil {
						t.Errorf("beside %s: %v", name, err)
					}
				}
				leave()
				reads.Wait()
				storetest.Eventually(t, "the connections are free", func() bool { used, _ := full.Busy(); return used == 0 })
				for range all { // all of them can be used again
					rows, err := full.Rows(t.Context(), "SELECT 1")
					if err != nil {
						t.Fatal(err)
					}
					defer rows.Close()
					if !rows.Next() {
						t.Errorf("no row: %v", rows.Err())
					}
				}
			})
		}
	})
}

// A query ends at the deadline of its context.
func TestQueriesEndAtTheDeadline(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, view := range []*store.DB{db, db.Long(), db.Urgent()} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := store.One(ctx, view, store.Value[int64], endless)
			if !errors.Is(err, context.DeadlineExceeded) || !db.IsAway(err) {
				t.Errorf("ended with %v", err)
			}
			storetest.Eventually(t, "the connection is free", func() bool { used, _ := view.Busy(); return used == 0 })
		}
	})
}

// PostgreSQL ends a statement that takes too long also when it does not learn that its
// client left, and a transaction whose process stands still, so that others get what it
// locked.
func TestPostgresEndsStatements(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "postgres"), &clock.Clock{})
	setting := func(q store.Q, name string) string {
		value, err := store.One(t.Context(), q, store.Value[string], "SHOW "+name)
		if err != nil {
			t.Error(err)
		}
		return value
	}
	for view, want := range map[*store.DB]string{db: "4s", db.Long(): "10s", db.Urgent(): "4s"} {
		if got := setting(view, "statement_timeout"); got != want {
			t.Errorf("a statement may take %s, want %s", got, want)
		}
		if got := setting(view, "idle_in_transaction_session_timeout"); got != "4s" {
			t.Errorf("a transaction may stand still for %s", got)
		}
		var stood string
		if err := view.InTx(t.Context(), func(tx *store.Tx) error {
			stood = setting(tx, "statement_timeout")
			return nil
		}); err != nil || stood != want {
			t.Errorf("a transaction of the view has %s, %v; want %s", stood, err, want)
		}
	}
}

// Connections that end without a word, as when the server restarts, fail no read, and
// no transaction that was not about to be committed.
func TestLostConnections(t *testing.T) {
	address := storetest.Address(t, "postgres")
	db := storetest.Open(t, address, &clock.Clock{})
	other := storetest.Open(t, address, &clock.Clock{})
	ctx := t.Context()
	if _, err := db.Exec(ctx, "INSERT INTO sequence (name, value) VALUES ('lost', 0)"); err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		var together sync.WaitGroup // until all connections are there
		for range 8 {
			together.Go(func() { store.One(ctx, db, store.Value[string], "SELECT pg_sleep(0.01)::text") })
		}
		together.Wait()
		if _, err := store.All(ctx, other, store.Value[bool], `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid NOT IN (SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_terminate%')`); err != nil {
			t.Fatal(err)
		}
		for i := range 16 {
			if round%2 == 0 {
				if _, err := store.One(ctx, db, store.Value[int64], "SELECT value FROM sequence WHERE name = 'lost'"); err != nil {
					t.Errorf("read %d: %v", i, err)
				}
			}
			if err := db.InTx(ctx, func(tx *store.Tx) error {
				if _, err := store.One(ctx, tx, store.Value[int64], "SELECT 1"); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "UPDATE sequence SET value = value + 1 WHERE name = 'lost'")
				return err
			}); err != nil {
				t.Errorf("transaction %d: %v", i, err)
			}
		}
	}
	if n, err := store.One(ctx, db, store.Value[int64], "SELECT value FROM sequence WHERE name = 'lost'"); err != nil || n != 5*16 {
		t.Errorf("%d transactions were done, %v; want 80", n, err)
	}
}

// A transaction whose caller has left ends before its next statement, and leaves nothing.
func TestTransactionEndsWithItsCaller(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		const set = "UPDATE sequence SET value = value + 1 WHERE name = ?"
		value := func() int64 {
			n, err := store.One(t.Context(), db, store.Value[int64], "SELECT COALESCE(SUM(value), 0) FROM sequence")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if _, err := db.Exec(t.Context(), "INSERT INTO sequence (name, value) VALUES ('left', 0)"); err != nil {
			t.Fatal(err)
		}
		before := value()
		ctx, leave := context.WithCancel(t.Context())
		err := db.InTx(ctx, func(tx *store.Tx) error {
			if n, err := tx.Exec(ctx, set, "left"); err != nil || n != 1 {
				t.Errorf("%d rows, %v", n, err)
			}
			leave()
			if _, err := tx.Exec(ctx, set, "left"); !errors.Is(err, context.Canceled) {
				t.Errorf("a statement after the caller left: %v", err)
			}
			_, err := store.One(ctx, tx, store.Value[int64], "SELECT value FROM sequence")
			return err
		})
		if !errors.Is(err, context.Canceled) || value() != before {
			t.Errorf("the transaction ended with %v", err)
		}
	})
}

// The connections of each view are counted, and who waits for one.
func TestPools(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		most := map[string]int{"usual": 16, "long": 6, "urgent": 8}
		if db.Dialect().Name == "sqlite" {
			most = map[string]int{"usual": 4, "long": 4, "urgent": 8}
		}
		for i, view := range []*store.DB{db, db.Long(), db.Urgent()} {
			pool := func() store.Pool { return db.Pools()[i] }
			name := []string{"usual", "long", "urgent"}[i]
			before := pool()
			if before.View != name || before.Most != most[name] || before.Busy != 0 {
				t.Errorf("before: %+v", before)
			}
			storetest.Eventually(t, "somebody waits", func() bool {
				var held []store.Rows
				for range most[name] {
					rows, err := view.Rows(t.Context(), "SELECT 1")
					if err != nil {
						t.Fatal(err)
					}
					held = append(held, rows)
				}
				if p := pool(); p.Busy != most[name] || p.Open != most[name] {
					t.Errorf("all are used: %+v", p)
				}
				pinged := make(chan error)
				go func() { pinged <- view.Ping(t.Context()) }()
				runtime.Gosched()
				for _, rows := range held {
					if err := rows.Close(); err != nil {
						t.Error(err)
					}
				}
				if err := <-pinged; err != nil {
					t.Error(err)
				}
				return pool().Waits >= before.Waits+int64(most[name]-before.Open)+1
			})
			if p := pool(); p.Waited <= before.Waited || p.Busy != 0 || p.Open == 0 {
				t.Errorf("afterwards: %+v", p)
			}
		}
	})
}
