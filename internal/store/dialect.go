package store

import (
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Dialect names what differs between the two engines. Everything else is one
// SQL text for both.
type Dialect struct {
	// Name is "sqlite" or "postgres".
	Name string
	// SkipLocked ends the inner SELECT of a claim, so that several executors
	// do not wait for each other. SQLite has one writer and needs none.
	SkipLocked string
	// LockRow ends a SELECT that keeps its rows from being changed until the
	// transaction ends. SQLite has one writer and needs none.
	LockRow string
	// KeepRow ends a SELECT that keeps its rows from being deleted until the
	// transaction ends; they may be changed. SQLite has one writer and needs none.
	KeepRow string
	// Bytewise follows a text that is compared or ordered byte by byte. SQLite does
	// nothing else.
	Bytewise string
	// findTable is a query that returns a row if a table with that name exists.
	findTable string
	// position is the function that finds one text in another.
	position string
	// indexedBy comes before the name of the index that a table is to be read
	// through; see Indexed.
	indexedBy string
	// numbered: placeholders are $1, $2, … instead of ?.
	numbered bool
	// isUnique and isRetryable classify driver errors by code.
	isUnique    func(error) bool
	isRetryable func(error) bool
	// isAway reports whether the database could not be reached, as opposed to
	// having refused something.
	isAway func(error) bool
}

// Engines are the names of all dialects.
func Engines() []string { return []string{sqliteDialect.Name, postgresDialect.Name} }

// Contains returns the condition that a text column literally contains an
// argument.
func (d *Dialect) Contains(column string) string { return d.Position(column, "?") + " > 0" }

// Position returns the expression for the place of the first of a text's parts that
// equal another text, from 1, and 0 without one.
func (d *Dialect) Position(text, part string) string {
	return d.position + "(" + text + ", " + part + ")"
}

// Indexed returns the text that follows the name of a table in FROM, so that it
// is read through an index. SQLite plans without statistics of its rows and may
// sort a whole table for one page; PostgreSQL has them and needs no hint.
func (d *Dialect) Indexed(name string) string {
	if d.indexedBy == "" {
		return ""
	}
	return d.indexedBy + name
}

var sqliteDialect = Dialect{
	Name:      "sqlite",
	findTable: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
	position:  "instr",
	indexedBy: " INDEXED BY ",
	isUnique: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE ||
			e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
	},
	isRetryable: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
	},
	isAway: func(err error) bool {
		var e *sqlite.Error
		if !errors.As(err, &e) {
			return false
		}
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY,
			sqlite3.SQLITE_CANTOPEN:
			return true
		}
		return false
	},
}

// damagedFile reports whether SQLite read its file, and found something else than what should be there.
func damagedFile(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR: // the last is of a table that is missing
		return true
	}
	return false
}

var postgresDialect = Dialect{
	Name:       "postgres",
	SkipLocked: " FOR UPDATE SKIP LOCKED",
	LockRow:    " FOR UPDATE",
	KeepRow:    " FOR KEY SHARE",
	Bytewise:   ` COLLATE "C"`,
	findTable:  "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
	position:   "strpos",
	numbered:   true,
	isUnique:   func(err error) bool { return postgresCode(err) == "23505" },
	isRetryable: func(err error) bool {
		code := postgresCode(err)
		return code == "40001" || code == "40P01"
	},
	isAway: func(err error) bool {
		code := postgresCode(err)
		if code == "" {
			var e *pgconn.ConnectError
			return errors.As(err, &e) || pgconn.SafeToRetry(err) || isNetwork(err)
		}
		// Classes 08 (connection), 53 (resources), 57P (operator intervention), 57014: the
		// statement took too long, and 25P03: the process stood still and the transaction
		// was ended meanwhile.
		return code == "25P03" || code == "57014" || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P")
	},
}

func postgresCode(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// bind turns "?" placeholders into the engine's own. No statement of Waymark
// has a question mark in a literal.
func (d *Dialect) bind(query string) string {
	if !d.numbered {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	n := 0
	for i := 0; i < len(query); i++ {
		if query[i] != '?' {
			b.WriteByte(query[i])
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
