package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"

	"github.com/waymarkhq/waymark/internal/clock"
)

// What is sent later is done before what follows and before the commit, and what
// it fails with fails the transaction.
func TestSend(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx := t.Context()
		const insert = "INSERT INTO sequence (name, value) VALUES (?, 1)"
		there := func(q store.Q, name string) bool {
			t.Helper()
			found, err := store.Exists(ctx, q, "SELECT 1 FROM sequence WHERE name = ?", name)
			if err != nil {
				t.Error(err)
			}
			return found
		}
		after := false
		if err := db.InTx(ctx, func(tx *store.Tx) error {
			tx.AfterCommit(func() { after = true })
			if err := tx.Send(ctx, insert, "a"); err != nil {
				return err
			}
			if !there(tx, "a") {
				t.Error("what was sent is not there for the next statement")
			}
			if there(db, "a") {
				t.Error("what was sent is there for others")
			}
			if err := tx.Send(ctx, insert, "b"); err != nil {
				return err
			}
			return tx.Send(ctx, insert, "c")
		}); err != nil || !after {
			t.Fatal(err, after)
		}
		if !there(db, "a") || !there(db, "b") || !there(db, "c") {
			t.Error("what was sent is not there after the commit")
		}
		after = false
		for name, last := range map[string]func(tx *store.Tx) error{
			"by the commit":         func(*store.Tx) error { return nil },
			"by the next statement": func(tx *store.Tx) error { _, err := tx.Exec(ctx, insert, "e"); return err },
			"by the next query": func(tx *store.Tx) error {
				_, err := store.One(ctx, tx, store.Value[int64], "SELECT 1")
				return err
			},
		} {
			err := db.InTx(ctx, func(tx *store.Tx) error {
				tx.AfterCommit(func() { after = true })
				for _, name := range []string{"d", "a"} {
					if err := tx.Send(ctx, insert, name); err != nil {
						return err
					}
				}
				return last(tx)
			})
			if !db.IsUnique(err) || after || there(db, "d") || there(db, "e") {
				t.Errorf("told %s: %v, after-commit ran: %v", name, err, after)
			}
		}
		// A transaction that fails or does nothing leaves a connection as it was.
		for range 20 {
			boom := errors.New("boom")
			if err := db.InTx(ctx, func(tx *store.Tx) error { tx.Send(ctx, insert, "f"); return boom }); err != boom {
				t.Error(err)
			}
			if err := db.InTx(ctx, func(*store.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		if there(db, "f") {
			t.Error("a failed transaction left a row")
		}
		cancelled, cancel := context.WithCancel(ctx)
		if err := db.InTx(cancelled, func(tx *store.Tx) error {
			cancel()
			return tx.Send(ctx, insert, "g")
		}); db.Dialect().Name == "postgres" && (err == nil || there(db, "g")) {
			t.Errorf("a transaction whose context is done: %v", err)
		}
	})
}

func TestTryLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		if db.Dialect().Name == "sqlite" {
			return // one process does all the writing
		}
		ctx := t.Context()
		taken := errors.New("taken")
		var held, released, free error
		err := db.InTx(ctx, func(tx *store.Tx) error {
			tx.TryLock(7, taken)
			if _, err := store.One(ctx, tx, store.Value[int64], "SELECT 1"); err != nil {
				return err
			}
			held = db.InTx(ctx, func(tx *store.Tx) error {
				tx.TryLock(7, taken)
				_, err := store.One(ctx, tx, store.Value[int64], "SELECT 1")
				return err
			})
			// Also when nothing else is asked.
			released = db.InTx(ctx, func(tx *store.Tx) error {
				tx.TryLock(7, taken)
				return tx.Send(ctx, "INSERT INTO sequence (name, value) VALUES ('x', 1)")
			})
			free = db.InTx(ctx, func(tx *store.Tx) error { tx.TryLock(8, taken); return nil })
			return nil
		})
		found, readErr := store.Exists(ctx, db, "SELECT 1 FROM sequence WHERE name = 'x'")
		if err != nil || readErr != nil || !errors.Is(held, taken) || !errors.Is(released, taken) || free != nil ||
			found {
			t.Errorf("%v, %v; refused: %v, %v; of another key: %v; row: %v", err, readErr, held, released, free, found)
		}
		if err := db.InTx(ctx, func(tx *store.Tx) error { tx.TryLock(7, taken); return nil }); err != nil {
			t.Error(err)
		}
	})
}

// Only a transaction that asks for it does not wait for the disk: its setting
// ends with it, whatever its connection does next.
func TestUnsynced(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx := t.Context()
		setting := func(tx *store.Tx) string {
			if db.Dialect().Name == "sqlite" {
				return ""
			}
			value, err := store.One(ctx, tx, store.Value[string], "SHOW synchronous_commit")
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		var before, during, after string
		const insert = "INSERT INTO sequence (name, value) VALUES ('unsynced', 1)"
		for _, in := range []struct {
			run func(context.Context, func(*store.Tx) error) error
			do  func(*store.Tx) error
		}{
			{db.InTx, func(tx *store.Tx) error {
				if db.Dialect().Name == "postgres" { // the tests' server does not wait either
					if _, err := tx.Exec(ctx, "SET synchronous_commit = local"); err != nil {
						return err
					}
				}
				before = setting(tx)
				return nil
			}},
			{db.InTxUnsynced, func(*store.Tx) error { return nil }},
			{db.InTxUnsynced, func(tx *store.Tx) error {
				during = setting(tx)
				_, err := tx.Exec(ctx, insert)
				return err
			}},
			{db.InTxReadCommitted, func(tx *store.Tx) error { after = setting(tx); return nil }},
		} {
			if err := in.run(ctx, in.do); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := store.Exists(ctx, db, "SELECT 1 FROM sequence WHERE name = 'unsynced'"); err != nil || !found {
			t.Errorf("what was committed is there: %v, %v", found, err)
		}
		if before != after || db.Dialect().Name == "postgres" && (before != "local" || during != "off") {
			t.Errorf("synchronous_commit was %q, then %q, then %q", before, during, after)
		}
	})
}
