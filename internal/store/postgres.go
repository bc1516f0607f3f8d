package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/waymarkhq/waymark/internal/clock"
)

const beginReadCommitted = "BEGIN ISOLATION LEVEL READ COMMITTED"

const idleTimeout = "idle_in_transaction_session_timeout"

func openPostgres(ctx context.Context, address string, c *clock.Clock) (*DB, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	config.MaxConnLifetime = time.Hour
	migrations := stdlib.OpenDB(*config.ConnConfig.Copy())
	migrations.SetMaxIdleConns(0)
	d := &database{dialect: postgresDialect, clock: c, migrations: migrations}
	var pools []*pgxpool.Pool
	d.closePools = func() error {
		for _, pool := range pools {
			pool.Close()
		}
		return nil
	}
	// A process that stands still inside a transaction must not keep the others from what
	// it locked.
	if _, set := config.ConnConfig.RuntimeParams[idleTimeout]; !set {
		config.ConnConfig.RuntimeParams[idleTimeout] = milliseconds(statementWithin)
	}
	view := func(connections int, within time.Duration) *DB {
		config := config.Copy()
		config.MaxConns, config.MinConns = int32(connections), 0
		// The server may miss that a statement is cancelled, or that the process is gone.
		config.ConnConfig.RuntimeParams["statement_timeout"] = milliseconds(within)
		pool, openErr := pgxpool.NewWithConfig(ctx, config)
		if openErr != nil {
			err = errors.Join(err, openErr)
			return nil
		}
		pools = append(pools, pool)
		return &DB{database: d, postgres: pool, reader: pooled{pool, &d.dialect, within}}
	}
	db := view(onPostgres.usual, statementWithin)
	d.usual, d.long, d.urgent = db, view(onPostgres.long, longWithin), view(onPostgres.urgent, statementWithin)
	if err == nil {
		err = db.postgres.Ping(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", redact(address), err), db.Close())
	}
	return db, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// pooled runs statements on any connection, each in a transaction of its own, and within
// a time in which its rows are read, too.
type pooled struct {
	on      *pgxpool.Pool
	dialect *Dialect
	within  time.Duration
}

func (p pooled) exec(ctx context.Context, query string, args []any) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	tag, err := p.on.Exec(ctx, p.dialect.bind(query), args...)
	if err != nil {
		return 0, describe(query, err)
	}
	return tag.RowsAffected(), nil
}

func (p pooled) rows(ctx context.Context, query string, args []any) (Rows, error) {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	rows, err := p.on.Query(ctx, p.dialect.bind(query), args...)
	if err != nil {
		cancel()
		return nil, describe(query, err)
	}
	return answer{Rows: rows, cancel: cancel}, nil
}

// answer is PostgreSQL's answer to a query.
type answer struct {
	pgx.Rows
	// sent is the batch that the query was sent in, nil when it was sent alone.
	sent pgx.BatchResults
	// cancel ends the time that the query has.
	cancel context.CancelFunc
}

// Close implements Rows.
func (a answer) Close() error {
	defer a.cancel()
	a.Rows.Close()
	if a.sent != nil {
		return cmp.Or(a.Err(), a.sent.Close())
	}
	return a.Err()
}

// batched is a transaction on PostgreSQL. Each round trip to the server costs
// as much as a statement. So a statement whose answer is not needed at once,
// BEGIN among them, waits and is sent together with the next one whose answer
// is.
type batched struct {
	conn    *pgxpool.Conn
	dialect *Dialect
	waiting []waiting
	// beginning is how many statements begin the transaction.
	beginning int
	// begun and ending tell that the beginning and that the COMMIT was sent.
	begun, ending bool
}

// waiting is a statement to be sent; check, if any, is called with its answer.
type waiting struct {
	query string
	args  []any
	check func(pgx.Rows) error
}

func (b *batched) wait(query string, args []any, check func(pgx.Rows) error) {
	b.waiting = append(b.waiting, waiting{query, args, check})
}

// send sends the statements that wait and then a query, and returns the answer
// to the query.
func (b *batched) send(ctx context.Context, query string, args []any) (_ answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementWithin)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	var batch pgx.Batch
	for _, w := range b.waiting {
		batch.Queue(b.dialect.bind(w.query), w.args...)
	}
	batch.Queue(b.dialect.bind(query), args...)
	all := b.waiting
	b.waiting, b.begun = nil, true
	results := b.conn.SendBatch(ctx, &batch)
	for _, w := range all {
		if err := w.read(results); err != nil {
			results.Close()
			return answer{}, err
		}
	}
	rows, err := results.Query()
	if err != nil {
		results.Close()
		return answer{}, describe(query, err)
	}
	return answer{rows, results, cancel}, nil
}

// read reads the answer to a statement that waited.
func (w *waiting) read(results pgx.BatchResults) error {
	rows, err := results.Query()
	if err == nil && w.check != nil {
		if err = w.check(rows); err != nil {
			rows.Close()
			return err // its own, unless reading failed
		}
	}
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	if err != nil {
		return describe(w.query, err)
	}
	return nil
}

func (b *batched) exec(ctx context.Context, query string, args []any) (int64, error) {
	tag, err := b.finish(b.send(ctx, query, args))
	if err != nil {
		return 0, describe(query, err)
	}
	return tag.RowsAffected(), nil
}

// finish reads an answer to its end.
func (b *batched) finish(a answer, err error) (pgconn.CommandTag, error) {
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	err = a.Close()
	return a.CommandTag(), err
}

func (b *batched) rows(ctx context.Context, query string, args []any) (Rows, error) {
	a, err := b.send(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// lock makes tx fail with an error unless a lock is free. The request for the
// lock is sent together with the next statement.
func (b *batched) lock(key int64, taken error) {
	b.wait("SELECT pg_try_advisory_xact_lock(?)", []any{key}, func(rows pgx.Rows) error {
		var free bool
		if !rows.Next() {
			return rows.Err()
		}
		if err := rows.Scan(&free); err != nil {
			return err
		}
		if !free {
			return taken
		}
		return nil
	})
}

// end commits or rolls back. If nothing was sent, there is nothing to end.
func (b *batched) end(ctx context.Context, commit bool) error {
	if !commit {
		if b.begun {
			ctx, cancel := context.WithTimeout(ctx, statementWithin)
			defer cancel()
			_, err := b.conn.Exec(ctx, "ROLLBACK")
			return err
		}
		return nil
	}
	if !b.begun && len(b.waiting) == b.beginning {
		return nil
	}
	for _, w := range b.waiting {
		if w.check != nil { // which must not come after the commit
			if _, err := b.exec(ctx, "SELECT 1", nil); err != nil {
				return err
			}
			break
		}
	}
	b.ending = true
	tag, err := b.finish(b.send(ctx, "COMMIT", nil))
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// errUndone is the error of a transaction that was certainly not committed, because its
// connection was lost before.
var errUndone = errors.New("the connection was lost")

// transaction runs f in a transaction of its own.
func (db *DB) transaction(ctx context.Context, begin []string, tx *Tx, f func() error) (err error) {
	acquiring, cancel := context.WithTimeout(ctx, statementWithin)
	conn, err := db.postgres.Acquire(acquiring)
	cancel()
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	b := &batched{conn: conn, dialect: &db.dialect, beginning: len(begin)}
	for _, statement := range begin {
		b.wait(statement, nil, nil)
	}
	tx.engine = b
	committed := false
	defer func() {
		if !committed {
			// Roll back also when ctx is over; a connection that does not
			// answer is closed.
			b.end(context.WithoutCancel(ctx), false)
		}
		conn.Release()
		if db.isLost(err) && !b.ending {
			err = fmt.Errorf("%w: %w", errUndone, err)
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := b.end(ctx, true); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

// isLost reports whether a connection to PostgreSQL ended under a statement, as all do
// when a server restarts. The connections that nobody uses are closed then: they have
// most likely ended, too.
func (db *DB) isLost(err error) bool {
	if err == nil || db.postgres == nil || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) {
		return false
	}
	switch postgresCode(err) {
	case "57P01", "57P02": // ended by an administrator, or in a crash
	case "":
		if connect := (*pgconn.ConnectError)(nil); errors.As(err, &connect) || !isNetwork(err) {
			return false
		}
	default:
		return false
	}
	db.postgres.Reset()
	return true
}
