package store

import "time"

// connections is how many connections each view of a database has.
type connections struct{ usual, long, urgent int }

// SQLite's use the processors of this machine; those on PostgreSQL use the server's,
// which several processes share.
var (
	onSQLite   = connections{usual: 4, long: 4, urgent: 8}
	onPostgres = connections{usual: 16, long: 6, urgent: 8}
)

const (
	// statementWithin is how long PostgreSQL may take for a statement, or for a free
	// connection: a server that hangs is one that is away.
	statementWithin = 4 * time.Second
	// longWithin bounds a statement of Long.
	longWithin = 10 * time.Second
)

// Long returns the view for queries that may take seconds, such as those over all events
// of an app: nothing else ever waits for them.
//
// SQLite notices that a query's context is done until it has found the first row, and
// between two rows. So a query that may search for long sorts or groups its rows.
func (db *DB) Long() *DB { return db.long }

// LongReads returns how many queries of Long are to run at once: two less than it has
// connections, which are for what such a query asks besides.
func (db *DB) LongReads() int {
	if db.writer != nil {
		return onSQLite.long - 2
	}
	return onPostgres.long - 2
}

// Urgent returns the view for what a visitor waits for, and each call before it is known
// whose it is.
func (db *DB) Urgent() *DB { return db.urgent }
