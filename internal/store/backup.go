package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Copies are where Backup writes the copy of a database, and Restore finds it.
type Copies interface {
	// Path returns where a file is.
	Path(name string) string
	// Create makes a file.
	Create(name string) (io.WriteCloser, error)
	// Open opens a file.
	Open(name string) (io.ReadCloser, error)
}

// CopyName is the name of the copy of a SQLite database. On PostgreSQL each table has a
// file in the text format of COPY.
const CopyName = "waymark.db"

// Table is a table in a copy of a PostgreSQL database.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// FileName is the name of the table's file.
func (t *Table) FileName() string { return t.Name + ".copy" }

// quoted returns the table and its columns as they stand in a statement.
func (t *Table) quoted() (name, columns string) {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize(), strings.Join(all, ", ")
}

// Backup copies the database as it is at one instant, over a connection of its own, while
// others write. read is given what reads that same state. It returns the tables in the
// order in which Restore needs them; a SQLite database is one file.
func (db *DB) Backup(ctx context.Context, to Copies, read func(Q) error) ([]Table, error) {
	if db.postgres == nil {
		return nil, db.copySQLite(ctx, to.Path(CopyName), read)
	}
	return db.copyPostgres(ctx, to, read)
}

func (db *DB) copySQLite(ctx context.Context, file string, read func(Q) error) (err error) {
	on, err := sql.Open("sqlite", "file:"+(&url.URL{Path: db.writer.file}).EscapedPath()+"?_pragma="+busyTimeout)
	if err != nil {
		return err
	}
	on.SetMaxOpenConns(1)
	_, err = on.ExecContext(ctx, "VACUUM INTO ?", file)
	if err = errors.Join(err, on.Close()); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	copied, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	return read(state{handle{on: copied, dialect: &db.dialect, kept: &statements{}}, &db.dialect})
}

// state is a Q for a copy of the database, which only reads.
type state struct {
	engine
	dialect *Dialect
}

// Exec implements Q.
func (s state) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return s.exec(ctx, query, args)
}

// Rows implements Q.
func (s state) Rows(ctx context.Context, query string, args ...any) (Rows, error) {
	return s.rows(ctx, query, args)
}

// Dialect implements Q.
func (s state) Dialect() *Dialect { return s.dialect }

// connect opens a connection of its own, which may take as long as it needs.
func (db *DB) connect(ctx context.Context) (*pgx.Conn, error) {
	config := db.postgres.Config().ConnConfig.Copy()
	for _, timeout := range []string{"statement_timeout", idleTimeout} {
		config.RuntimeParams[timeout] = "0"
	}
	return pgx.ConnectConfig(ctx, config)
}

// session runs statements on one connection to PostgreSQL.
type session struct {
	conn    *pgx.Conn
	dialect *Dialect
}

func (s session) exec(ctx context.Context, query string, args []any) (int64, error) {
	tag, err := s.conn.Exec(ctx, s.dialect.bind(query), args...)
	if err != nil {
		return 0, describe(query, err)
	}
	return tag.RowsAffected(), nil
}

func (s session) rows(ctx context.Context, query string, args []any) (Rows, error) {
	rows, err := s.conn.Query(ctx, s.dialect.bind(query), args...)
	if err != nil {
		return nil, describe(query, err)
	}
	return answer{Rows: rows, cancel: func() {}}, nil
}

func (db *DB) copyPostgres(ctx context.Context, to Copies, read func(Q) error) (tables []Table, err error) {
	conn, err := db.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return nil, err
	}
	q := state{session{conn, &db.dialect}, &db.dialect}
	if tables, err = tablesOf(ctx, q); err != nil {
		return nil, err
	}
	for i := range tables {
		name, columns := tables[i].quoted()
		file, err := to.Create(tables[i].FileName())
		if err != nil {
			return nil, err
		}
		_, err = conn.PgConn().CopyTo(ctx, file, "COPY "+name+" ("+columns+") TO STDOUT")
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("copy table %s: %w", tables[i].Name, err)
		}
	}
	return tables, read(q)
}

// tablesOf lists the tables, each after those that it refers to. The table of migrations
// is left out: migrations fill it.
func tablesOf(ctx context.Context, q Q) ([]Table, error) {
	type column struct{ table, name, refersTo string }
	columns, err := All(ctx, q, func(r Row) (c column, err error) {
		return c, r.Scan(&c.table, &c.name, &c.refersTo)
	}, `SELECT t.relname, a.attname, COALESCE((SELECT string_agg(f.relname, ',') FROM pg_constraint k
			JOIN pg_class f ON f.oid = k.confrelid WHERE k.contype = 'f' AND k.conrelid = t.oid AND f.oid <> t.oid), '')
		FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
		WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace AND t.relname <> 'goose_db_version'
			AND a.attnum > 0 AND NOT a.attisdropped ORDER BY t.relname, a.attnum`)
	if err != nil {
		return nil, err
	}
	var waiting []Table
	before := map[string][]string{}
	for _, c := range columns {
		if n := len(waiting); n == 0 || waiting[n-1].Name != c.table {
			waiting = append(waiting, Table{Name: c.table})
			if c.refersTo != "" {
				before[c.table] = strings.Split(c.refersTo, ",")
			}
		}
		t := &waiting[len(waiting)-1]
		t.Columns = append(t.Columns, c.name)
	}
	var tables []Table
	for len(waiting) > 0 {
		i := slices.IndexFunc(waiting, func(t Table) bool {
			return !slices.ContainsFunc(before[t.Name], func(name string) bool {
				return slices.ContainsFunc(waiting, func(w Table) bool { return w.Name == name })
			})
		})
		if i < 0 {
			return nil, fmt.Errorf("tables refer to each other, %s among them", waiting[0].Name)
		}
		tables, waiting = append(tables, waiting[i]), slices.Delete(waiting, i, i+1)
	}
	return tables, nil
}
