package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/waymarkhq/waymark/internal/clock"
)

// ErrNotFound is returned by One when the query has no row.
var ErrNotFound = errors.New("no such row")

// Q runs statements. It is a DB outside a transaction or a Tx inside one, so
// that one query function serves both.
type Q interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Rows runs a query; the caller closes the result.
	Rows(ctx context.Context, query string, args ...any) (Rows, error)
	// Dialect returns the named differences of the engine.
	Dialect() *Dialect
}

// engine runs statements on one of the two.
type engine interface {
	exec(ctx context.Context, query string, args []any) (int64, error)
	rows(ctx context.Context, query string, args []any) (Rows, error)
}

// DB is the main database, as one of its three views (Long, Urgent, and the DB that
// Open returns): each has connections of its own, so that no kind of work waits for
// another. InTx and Exec are the only ways to write.
type DB struct {
	*database
	// reader runs queries outside a transaction.
	reader engine
	// postgres or sqlite are the connections of this view; the other one is nil.
	postgres *pgxpool.Pool
	sqlite   *sql.DB
}

// database is what the views share.
type database struct {
	dialect Dialect
	clock   *clock.Clock
	// writer is set on SQLite only.
	writer *writer
	// migrations is the pool for them; on SQLite it has the connection of the writer.
	migrations          *sql.DB
	usual, long, urgent *DB
	// closePools closes the connections of all views.
	closePools func() error
	signals    signals
	retries    atomic.Int64
	history    atomic.Int64
	slow       slow
}

// Open opens a database: "sqlite:<file>" or a "postgres://" address. It does
// not migrate.
func Open(ctx context.Context, address string, c *clock.Clock) (*DB, error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return openSQLite(ctx, file, c)
	}
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return nil, fmt.Errorf("the database %.40q is neither sqlite nor a postgres:// address", redact(address))
	}
	return openPostgres(ctx, address, c)
}

// redact returns a database address as messages may show it: without the
// password, which may also stand in the query.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(unreadable address)"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// Close waits for the transaction under way and closes all connections, those of the
// other views too. Later statements fail. SQLite's file then holds everything, unless
// another process has it open.
func (db *DB) Close() (err error) {
	if db.writer != nil {
		err = db.writer.close()
	}
	return errors.Join(err, db.migrations.Close(), db.closePools())
}

// Dialect returns the named differences of the engine.
func (db *DB) Dialect() *Dialect { return &db.dialect }

// Now returns the current instant of the injected clock.
func (db *DB) Now() clock.Instant { return db.clock.Now() }

// Retries returns how often transactions of this process lost a race and were run
// again.
func (db *DB) Retries() int64 { return db.retries.Load() }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	_, err := One(ctx, db, Value[int64], "SELECT 1")
	return err
}

// Exec runs one statement in a transaction of its own, without the
// serializable isolation of InTx: for counters, leases and other statements
// that are whole by themselves.
func (db *DB) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if err := fault(ctx, query); err != nil {
		return 0, err
	}
	w := db.watch(ctx, query)
	defer func() { w.ended(err) }()
	if db.writer == nil {
		return db.reader.exec(ctx, query, args)
	}
	err = db.writer.run(ctx, true, func() (err error) {
		n, err = db.writer.exec(ctx, query, args)
		return err
	})
	return n, err
}

// Rows runs a query on a connection of this view. It is interrupted when ctx is done.
func (db *DB) Rows(ctx context.Context, query string, args ...any) (Rows, error) {
	if err := fault(ctx, query); err != nil {
		return nil, err
	}
	return db.reader.rows(ctx, query, args)
}

// IsUnique reports whether err is a violation of a unique index.
func (db *DB) IsUnique(err error) bool { return db.dialect.isUnique(err) }

// IsAway reports whether the database could not be reached, could not store, or
// was busy for longer than a transaction is retried.
func (db *DB) IsAway(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, errLost) ||
		db.dialect.isAway(err) || db.dialect.isRetryable(err)
}

func isNetwork(err error) bool {
	// A stored document that ends too early is damaged, although its end is unexpected, too.
	if damaged := (*jsontext.SyntacticError)(nil); errors.As(err, &damaged) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed)
}
