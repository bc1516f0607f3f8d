// Package clickhouse is the engine of analytics that keeps events in ClickHouse, from
// version 18.16 on. It serves those who have so many events that one machine does not
// suffice, or who have a ClickHouse anyway.
//
// Everything lies in one table, event, ordered by app, instant and id, and divided by
// the months of UTC. The engine makes it, and the database, where they are missing; the
// view event_schema tells their version.
//
// ClickHouse has no transactions. So an Append looks which events of its batch are
// there already, and adds the others; a batch is in a block, which is stored with all
// its events of a month or none. This holds as long as a log has one loader at a time,
// as it has. What comes in twice all the same is dropped when the server merges the
// parts of a month.
package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Every statement ends within one of these.
const (
	dialTimeout   = 5 * time.Second
	schemaTimeout = 30 * time.Second
	appendTimeout = 30 * time.Second
	queryTimeout  = 10 * time.Second
	// changeTimeout is for rewriting the parts that a deletion concerns, sweepTimeout for
	// that part of it for which other sweeps wait.
	changeTimeout = time.Hour
	sweepTimeout  = 30 * time.Second
)

const connections = 8

// Store keeps events in a ClickHouse server, which need not be there when the Store is
// opened: it is dialled when it is needed. It is safe for concurrent use, and several
// processes may each have one on the same database.
type Store struct {
	conn  driver.Conn
	clock *clock.Clock
	turns *turns.Pool
	// db and guard are those of Record.
	db    *store.DB
	guard eventstore.Guard
	// table is the name of the table of events, database is where it is.
	table, database string

	// preparing has a place for who makes the schema; ready tells that it is there.
	preparing chan struct{}
	ready     atomic.Bool

	mu sync.Mutex
	// swept is when Sweep last rewrote parts.
	swept clock.Instant
}

var _ eventstore.Engine = (*Store)(nil)

// Open returns the Store at an address, clickhouse://user:password@host:port/database.
// Its errors do not have the address, in which there is a password.
func Open(address string, c *clock.Clock) (*Store, error) {
	options, err := clickhouse.ParseDSN(address)
	if err != nil || !strings.HasPrefix(address, "clickhouse://") {
		return nil, errors.New("the address of ClickHouse is not clickhouse://user:password@host:port/database")
	}
	database := options.Auth.Database
	if database == "" || strings.ContainsAny(database, "/`\\") {
		return nil, errors.New("the address of ClickHouse has no database: it ends with /database, such as /waymark")
	}
	// The database is named in each statement: a server refuses connections to one that
	// it does not have yet.
	options.Auth.Database = ""
	options.DialTimeout = dialTimeout
	options.MaxOpenConns, options.MaxIdleConns = connections, connections
	// A query by Time has its bounds in it, and otherwise 256 KiB are the most.
	options.Settings = clickhouse.Settings{"max_query_size": 4 << 20}
	options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	conn, err := clickhouse.Open(options) // dials nothing
	if err != nil {
		return nil, errors.New("the address of ClickHouse is not clickhouse://user:password@host:port/database")
	}
	return &Store{
		conn: conn, clock: c, turns: turns.New(connections / 2), database: database,
		table: "`" + database + "`.event", preparing: make(chan struct{}, 1),
	}, nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.conn.Close() }

// Share makes the queries of s take their turns from t, before the first of them.
func (s *Store) Share(t *turns.Pool) { s.turns = t }

// Record makes each Append tell the main database, after ClickHouse has the events, how
// far their logs are loaded, which an engine that takes the place of this one knows then.
// Append asks g. It is called before the first Append.
func (s *Store) Record(db *store.DB, g eventstore.Guard) { s.db, s.guard = db, g }

// Run implements eventstore.Engine: there is nothing to do.
func (s *Store) Run(context.Context) {}

// Check reports whether the server answers and has the schema of this version, which it
// makes where there is none.
func (s *Store) Check(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "ClickHouse")
	if err := s.prepare(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return s.conn.Ping(ctx)
}

// exec runs a statement.
func (s *Store) exec(ctx context.Context, timeout time.Duration, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.conn.Exec(ctx, statement, args...)
}

// all returns the rows of a query.
func all[T any](ctx context.Context, s *Store, timeout time.Duration, scan func(driver.Rows) (T, error), query string,
	args ...any) (found []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	rows, err := s.conn.Query(ctx, query, args...)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	defer func() { err = cmp.Or(err, rows.Close()) }()
	found = []T{}
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// long is all for a query that reads many events of an app, when its turn has come.
func long[T any](ctx context.Context, s *Store, account string, scan func(driver.Rows) (T, error), query string,
	args ...any) (rows []T, err error) {
	err = s.turns.Do(ctx, account, func(ctx context.Context, turn *turns.Turn) error {
		return turn.Each(ctx, 1, func(int, int) (err error) {
			if err = s.prepare(ctx); err == nil {
				rows, err = all(ctx, s, queryTimeout, scan, query, args...)
			}
			return err
		})
	})
	return rows, err
}

// one returns the value of a query that has one row.
func one[T any](ctx context.Context, s *Store, timeout time.Duration, query string, args ...any) (value T, err error) {
	values, err := all(ctx, s, timeout, func(r driver.Rows) (v T, err error) { return v, r.Scan(&v) }, query, args...)
	if err == nil && len(values) != 1 {
		err = fmt.Errorf("%d rows, not 1", len(values))
	}
	if err != nil {
		return value, err
	}
	return values[0], nil
}
