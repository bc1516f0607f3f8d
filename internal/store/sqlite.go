package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the SQLite driver

	"github.com/waymarkhq/waymark/internal/clock"
)

func openSQLite(ctx context.Context, file string, c *clock.Clock) (_ *DB, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open database %s: %w", file, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	var pools []*sql.DB
	closePools := func() (err error) {
		for _, pool := range pools {
			err = errors.Join(err, pool.Close())
		}
		return err
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
		pools = append(pools, pool)
		pool.SetMaxOpenConns(connections)
		pool.SetMaxIdleConns(connections)
		return pool, pool.PingContext(ctx)
	}
	// The writer holds one connection for good; migrations use the other.
	writing, err := open("", 2)
	if err != nil {
		return nil, errors.Join(err, closePools())
	}
	d := &database{dialect: sqliteDialect, clock: c, migrations: writing, closePools: closePools}
	view := func(n int) *DB {
		pool, openErr := open("&_pragma=query_only(1)", n)
		err = errors.Join(err, openErr)
		return &DB{database: d, sqlite: pool, reader: handle{on: pool, dialect: &d.dialect, kept: &statements{}}}
	}
	db := view(onSQLite.usual)
	d.usual, d.long, d.urgent = db, view(onSQLite.long), view(onSQLite.urgent)
	var conn *sql.Conn
	if err == nil {
		conn, err = writing.Conn(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, closePools())
	}
	d.writer = newWriter(handle{on: conn, dialect: &d.dialect, kept: &statements{}}, file)
	return db, nil
}
