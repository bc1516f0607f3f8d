package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Verify reads the pages of SQLite's file and returns an error where they are damaged.
// PostgreSQL is left to its own tools.
func (db *DB) Verify(ctx context.Context) error {
	if db.writer == nil {
		return nil
	}
	found, err := One(ctx, db.Long(), Value[string], "PRAGMA quick_check(1)")
	if err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("the database is damaged (%.200s): end waymark serve, keep a copy of the data folder, "+
			"and put the database of a backup in its place", strings.Join(strings.Fields(found), " "))
	}
	return nil
}

// Damage is the error of a copy that was read and is not what it should be.
type Damage string

// Error says what is damaged.
func (d Damage) Error() string { return string(d) }

// VerifyCopy reads a copy that Backup made, and returns a Damage where it is damaged or is not
// one of a schema; another error says why it could not be read. It changes nothing.
func VerifyCopy(ctx context.Context, from Copies, tables []Table, schema int64) error {
	if len(tables) == 0 {
		return verifySQLite(ctx, from.Path(CopyName), schema)
	}
	for i := range tables {
		if err := tables[i].verify(from); err != nil {
			return fmt.Errorf("the copy of table %s: %w", tables[i].Name, err)
		}
	}
	return nil
}

func verifySQLite(ctx context.Context, file string, schema int64) (err error) {
	// Without immutable, SQLite would make files beside this one.
	on, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	q := state{handle{on: on, dialect: &sqliteDialect, kept: &statements{}}, &sqliteDialect}
	found, err := One(ctx, q, Value[string], "PRAGMA integrity_check(1)")
	if err == nil && found != "ok" {
		err = Damage(fmt.Sprintf("%.200s", found))
	}
	var has int64
	if err == nil {
		has, err = One(ctx, q, Value[int64], newestApplied)
	}
	if err == nil && has != schema {
		err = Damage(fmt.Sprintf("it has schema %d, not %d", has, schema))
	}
	if damagedFile(err) {
		err = Damage(err.Error())
	}
	if err != nil {
		return fmt.Errorf("the copy of the database: %w", err)
	}
	return nil
}

// verify counts the columns of each row. COPY writes a row as a line, and a tab between columns
// alone.
func (t *Table) verify(from Copies) error {
	file, err := from.Open(t.FileName())
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for row, columns := 1, 1; ; {
		part, err := lines.ReadSlice('\n')
		columns += bytes.Count(part, []byte{'\t'})
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil:
			if columns != len(t.Columns) {
				return Damage(fmt.Sprintf("row %d has %d columns, not %d", row, columns, len(t.Columns)))
			}
			row, columns = row+1, 1
		case errors.Is(err, io.EOF) && len(part) == 0 && columns == 1:
			return nil
		case errors.Is(err, io.EOF):
			return Damage(fmt.Sprintf("row %d is cut off", row))
		default:
			return err
		}
	}
}
