package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/tracing"
)

// Tx is one transaction. Now is the same for all its rows.
type Tx struct {
	Now clock.Instant
	engine
	db    *DB
	after []func()
	// work is the transaction's, which traces tell of.
	work context.Context
}

// Exec runs a statement inside the transaction.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := fault(ctx, query); err != nil {
		return 0, err
	}
	w := tx.db.watch(tx.work, query)
	n, err := tx.exec(ctx, query, args)
	w.ended(err)
	return n, err
}

// Rows runs a query inside the transaction.
func (tx *Tx) Rows(ctx context.Context, query string, args ...any) (Rows, error) {
	if err := fault(ctx, query); err != nil {
		return nil, err
	}
	return tx.rows(ctx, query, args)
}

// Dialect returns the named differences of the engine.
func (tx *Tx) Dialect() *Dialect { return &tx.db.dialect }

// History is that of the database.
func (tx *Tx) History() int64 { return tx.db.History() }

// Trace returns what tracing.Tracer.Continue goes on from, for work that this transaction leaves; "" when
// it is not traced.
func (tx *Tx) Trace() string { return tracing.Stored(tx.work) }

// AfterCommit runs f once the transaction is committed. f must not block.
func (tx *Tx) AfterCommit(f func()) { tx.after = append(tx.after, f) }

// Send is Exec for a statement whose number of rows does not matter. It may be
// sent together with a later statement or with the end of the transaction,
// which then returns its error.
func (tx *Tx) Send(ctx context.Context, query string, args ...any) error {
	if err := fault(ctx, query); err != nil {
		return err
	}
	if b, ok := tx.engine.(*batched); ok {
		b.wait(query, args, nil)
		return nil
	}
	_, err := tx.exec(ctx, query, args)
	return err
}

// TryLock takes the lock named by key until the transaction ends, which fails
// with an error, here or at a later statement, when the lock is not free. On
// SQLite one process does all the writing and knows its own work, so the lock
// is always free.
func (tx *Tx) TryLock(key int64, taken error) {
	if b, ok := tx.engine.(*batched); ok {
		b.lock(key, taken)
	}
}

// attempts bounds how often a transaction that lost a race is run again; the
// waits in between add up to a few seconds.
const attempts = 30

// InTx runs f in a serializable transaction: what f checked still holds when
// it writes. f may run several times and must have no effect outside tx.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	return db.inTx(ctx, []string{"BEGIN ISOLATION LEVEL SERIALIZABLE"}, f)
}

// InTxReadCommitted runs f in a transaction whose every statement sees what
// was committed before it: for work that takes a row lock first and then
// must read the newest state.
func (db *DB) InTxReadCommitted(ctx context.Context, f func(*Tx) error) error {
	return db.inTx(ctx, []string{beginReadCommitted}, f)
}

// InTxUnsynced is InTxReadCommitted without PostgreSQL's wait for the disk: when
// the database's machine fails, what was committed in the last second may be lost,
// though never a part of it. It is for counters that many calls share: none keeps
// their rows locked while the disk writes.
func (db *DB) InTxUnsynced(ctx context.Context, f func(*Tx) error) error {
	return db.inTx(ctx, []string{beginReadCommitted, "SET LOCAL synchronous_commit = off"}, f)
}

// inTx runs f in a transaction that PostgreSQL begins with these statements.
func (db *DB) inTx(ctx context.Context, begin []string, f func(*Tx) error) (err error) {
	ctx, span := tracing.Start(ctx, "transaction", tracing.Text("db.system.name", db.dialect.Name))
	defer func() {
		if err != nil {
			span.SetAttributes(tracing.Text("waymark.outcome", "rolled back"))
		}
		span.End()
	}()
	undone := false
	for attempt := 1; ; attempt++ {
		err := db.tryTx(ctx, begin, f)
		if errors.Is(err, errUndone) && !undone && ctx.Err() == nil { // once, on another connection
			undone = true
			continue
		}
		if err == nil || !db.dialect.isRetryable(err) {
			return err
		}
		if attempt == attempts {
			return fmt.Errorf("transaction given up after %d attempts: %w", attempts, err)
		}
		db.retries.Add(1)
		ceiling := min(time.Duration(attempt*attempt)*time.Millisecond, 250*time.Millisecond)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(ceiling)):
		}
	}
}

func (db *DB) tryTx(ctx context.Context, begin []string, f func(*Tx) error) error {
	tx := &Tx{db: db, work: ctx}
	if err := db.run(ctx, begin, tx, func() error {
		tx.Now = db.Now()
		return f(tx)
	}); err != nil {
		return err
	}
	for _, after := range tx.after {
		after()
	}
	return nil
}

// run runs f in a transaction and commits it. SQLite has one writer, so every
// transaction is serializable.
func (db *DB) run(ctx context.Context, begin []string, tx *Tx, f func() error) error {
	if db.writer != nil {
		tx.engine = db.writer.uninterrupted
		return db.writer.run(ctx, false, f)
	}
	return db.transaction(ctx, begin, tx, f)
}
