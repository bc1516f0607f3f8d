package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Moved tells how much Move has moved.
type Moved struct{ Tables, Rows int64 }

// Move fills a vacant PostgreSQL database with all rows of a SQLite one that has the schema of
// this program. Then it reads every table from both and compares them. It is all there or
// nothing; what is interrupted is no installation until Move is run again. Where all has been there
// before, as nobody learned that it had arrived, Move only compares. Others that write to from meanwhile fail.
func (db *DB) Move(ctx context.Context, from *DB) (moved Moved, err error) {
	if db.postgres == nil || from.writer == nil {
		return moved, errors.New("only from SQLite to PostgreSQL")
	}
	if err := from.CheckSchema(ctx); err != nil {
		return moved, err
	}
	arrived, err := db.cameFrom(ctx, from)
	if err == nil && !arrived {
		err = db.beginFilling(ctx, NewestSchema, "move")
	}
	if err != nil {
		return moved, err
	}
	// The transaction is one that writes, so that no other process does.
	source, err := sql.Open("sqlite", "file:"+(&url.URL{Path: from.writer.file}).EscapedPath()+"?_txlock=immediate&_pragma="+
		busyTimeout)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	snapshot, err := source.BeginTx(ctx, nil)
	if err != nil {
		return moved, err
	}
	defer snapshot.Rollback()
	err = db.fill(ctx, func(tx pgx.Tx, q Q) error {
		tables, err := tablesOf(ctx, q)
		if err != nil {
			return err
		}
		if err := sameTables(ctx, snapshot, tables); err != nil {
			return err
		}
		if !arrived {
			if err := empty(ctx, tx, tables); err != nil {
				return err
			}
		}
		for i := range tables {
			rows, err := tables[i].move(ctx, snapshot, tx, arrived)
			if err != nil && arrived {
				return fmt.Errorf("the database has an installation already, which came from this one and differs by now; name an "+
					"empty database (table %s: %w)", tables[i].Name, err)
			}
			if err != nil {
				return fmt.Errorf("move table %s: %w", tables[i].Name, err)
			}
			moved.Tables, moved.Rows = moved.Tables+1, moved.Rows+rows
		}
		return nil
	})
	return moved, err
}

// cameFrom reports whether a PostgreSQL database has the installation of a SQLite one, at least as it was once.
func (db *DB) cameFrom(ctx context.Context, from *DB) (bool, error) {
	version, err := db.Schema(ctx)
	if err != nil || version != NewestSchema {
		return false, err
	}
	if command, err := db.restoring(ctx); err != nil || command != "" {
		return false, err
	}
	here, err := epochOf(ctx, db)
	if err != nil || here == "" {
		return false, err
	}
	there, err := epochOf(ctx, from)
	return here == there, err
}

// epochOf returns the epoch of an installation, "" while it has none.
func epochOf(ctx context.Context, db *DB) (string, error) {
	epoch, err := One(ctx, db, Value[string], "SELECT value FROM installation WHERE name = ?", EpochName)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return epoch, err
}

// sameTables requires that a SQLite database has these tables and no others.
func sameTables(ctx context.Context, from *sql.Tx, tables []Table) error {
	rows, err := from.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name <> 'goose_db_version'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		if !slices.ContainsFunc(tables, func(t Table) bool { return t.Name == name }) {
			return fmt.Errorf("PostgreSQL has no table %s", name)
		}
	}
	if rows.Err() == nil && n != len(tables) {
		return fmt.Errorf("SQLite has %d tables, PostgreSQL %d", n, len(tables))
	}
	return rows.Err()
}

// move copies the rows of a table, unless they have arrived before, and returns how many, when those
// that PostgreSQL has are the same.
func (t *Table) move(ctx context.Context, from *sql.Tx, to pgx.Tx, arrived bool) (int64, error) {
	name, columns := t.quoted()
	query := "SELECT " + columns + " FROM " + name
	rows, err := from.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return 0, err
	}
	source := &moving{rows: rows, types: types, values: make([]any, len(t.Columns))}
	if arrived {
		for source.Next() {
			if _, err := source.Values(); err != nil {
				return 0, err
			}
		}
		err = source.Err()
	} else {
		_, err = to.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, source)
	}
	if err != nil {
		return 0, err
	}
	there, err := to.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	defer there.Close()
	var got digest
	for there.Next() {
		values, err := there.Values()
		if err == nil {
			err = got.add(values)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := there.Err(); err != nil {
		return 0, err
	}
	if got != source.read {
		return 0, fmt.Errorf("PostgreSQL has other rows than SQLite: %d with digest %x, not %d with %x", got.rows, got.sum,
			source.read.rows, source.read.sum)
	}
	return got.rows, nil
}

// moving are the rows of a SQLite table on their way. It implements pgx.CopyFromSource.
type moving struct {
	rows   *sql.Rows
	types  []*sql.ColumnType
	values []any
	read   digest
}

// Next implements pgx.CopyFromSource.
func (m *moving) Next() bool { return m.rows.Next() }

// Values implements pgx.CopyFromSource.
func (m *moving) Values() ([]any, error) {
	into := make([]any, len(m.values))
	for i := range m.values {
		into[i] = &m.values[i]
	}
	if err := m.rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, value := range m.values { // SQLite keeps truth as a number
		if n, ok := value.(int64); ok && m.types[i].DatabaseTypeName() == "BOOLEAN" {
			m.values[i] = n != 0
		}
	}
	return m.values, m.read.add(m.values)
}

// Err implements pgx.CopyFromSource.
func (m *moving) Err() error { return m.rows.Err() }

// digest tells rows apart, whatever their order. A row counts by the SHA-256 of its values,
// which are the same for both engines; those of all rows are summed.
type digest struct {
	rows int64
	sum  [4]uint64
}

func (d *digest) add(values []any) error {
	var text []byte
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			text = append(text, 'n')
		case bool:
			text = append(text, 'f')
			if v {
				text[len(text)-1] = 't'
			}
		case int16:
			text = appendNumber(text, int64(v))
		case int32:
			text = appendNumber(text, int64(v))
		case int64:
			text = appendNumber(text, v)
		case string:
			text = append(appendNumber(append(text, 's'), int64(len(v))), v...)
		case []byte:
			text = append(appendNumber(append(text, 'b'), int64(len(v))), v...)
		default:
			return fmt.Errorf("a value is a %T", value)
		}
	}
	sum := sha256.Sum256(text)
	for i := range d.sum {
		d.sum[i] += binary.BigEndian.Uint64(sum[8*i:])
	}
	d.rows++
	return nil
}

func appendNumber(text []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(text, 'i'), uint64(n))
}
