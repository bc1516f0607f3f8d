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
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // registers the SQLite driver

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

// DB is the main database. Queries outside a transaction go to a pool of
// readers; InTx and Exec are the only ways to write.
type DB struct {
	dialect Dialect
	clock   *clock.Clock
	reader  engine
	// writer is set on SQLite, postgres on PostgreSQL; the other one is nil.
	writer   *writer
	postgres *pgxpool.Pool
	// pool runs migrations; on SQLite it has the connection of the writer.
	pool *sql.DB
	// readers are SQLite's other connections, but for those of long.
	readers *sql.DB
	long    engine
	// closeLong closes the connections of long.
	closeLong func() error
	signals   signals
	retries   atomic.Int64
}

// Open opens a database: "sqlite:<file>" or a "postgres://" address. It does
// not migrate.
func Open(ctx context.Context, address string, c *clock.Clock) (*DB, error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return openSQLite(ctx, file, c)
	}
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return nil, errors.New("the database is neither sqlite nor a postgres:// address")
	}
	return openPostgres(ctx, address, c)
}

func openSQLite(ctx context.Context, file string, c *clock.Clock) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	open := func(options string, connections int) (*sql.DB, error) {
		dsn := "file:" + (&url.URL{Path: file}).EscapedPath() +
			"?_pragma=" + busyTimeout + "&_pragma=journal_mode(WAL)" +
			fmt.Sprintf("&_pragma=journal_size_limit(%d)", maxLog) +
			"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=temp_store(2)&_pragma=cache_size(-4096)" +
			options
		pool, err := sql.Open("sqlite", dsn)
		if err != nil {
			return nil, err
		}
		pool.SetMaxOpenConns(connections)
		pool.SetMaxIdleConns(connections)
		return pool, pool.PingContext(ctx)
	}
	// The writer holds one connection for good; migrations use the other.
	writing, err := open("", 2)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	reading, err := open("&_pragma=query_only(1)", 4)
	if err != nil {
		writing.Close()
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	long, err := open("&_pragma=query_only(1)", longOnSQLite)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", file, err), writing.Close(), reading.Close())
	}
	conn, err := writing.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", file, err), writing.Close(), reading.Close(),
			long.Close())
	}
	db := &DB{dialect: sqliteDialect, clock: c, pool: writing, readers: reading, closeLong: long.Close}
	db.long = watched{handle{on: long, dialect: &db.dialect}}
	db.reader = handle{on: reading, dialect: &db.dialect, kept: &statements{}}
	db.writer = newWriter(handle{on: conn, dialect: &db.dialect, kept: &statements{}}, file)
	return db, nil
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

// Close waits for the transaction under way and closes all connections. Later
// statements fail. SQLite's file then holds everything, unless another process has it
// open.
func (db *DB) Close() (err error) {
	if db.writer != nil {
		err = db.writer.close()
	}
	err = errors.Join(err, db.pool.Close())
	if db.readers != nil {
		err = errors.Join(err, db.readers.Close())
	}
	err = errors.Join(err, db.closeLong())
	if db.postgres != nil {
		db.postgres.Close()
	}
	return err
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
	if db.postgres != nil {
		return db.postgres.Ping(ctx)
	}
	return db.readers.PingContext(ctx)
}

// Exec runs one statement in a transaction of its own, without the
// serializable isolation of InTx: for counters, leases and other statements
// that are whole by themselves.
func (db *DB) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	if db.writer == nil {
		return db.reader.exec(ctx, query, args)
	}
	err = db.writer.run(ctx, true, func() (err error) {
		n, err = db.writer.exec(ctx, query, args)
		return err
	})
	return n, err
}

// Rows runs a query on the readers' pool.
func (db *DB) Rows(ctx context.Context, query string, args ...any) (Rows, error) {
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
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed)
}
