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

// Pool is what the connections of one view do.
type Pool struct {
	// View is usual, long or urgent.
	View string
	// Most is how many connections there may be; Open are there, and Busy of these run something.
	Most, Open, Busy int
	// Waits is how often somebody waited for a connection, and Waited for how long in all. On
	// PostgreSQL that a connection was opened counts, too.
	Waits  int64
	Waited time.Duration
}

// Pools returns what the connections of each view do. The writer of SQLite is none of them.
func (db *DB) Pools() []Pool {
	return []Pool{db.usual.pool("usual"), db.long.pool("long"), db.urgent.pool("urgent")}
}

func (db *DB) pool(view string) Pool {
	if db.postgres != nil {
		s := db.postgres.Stat()
		return Pool{View: view, Most: int(s.MaxConns()), Open: int(s.TotalConns()), Busy: int(s.AcquiredConns()),
			Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime()}
	}
	s := db.sqlite.Stats()
	return Pool{View: view, Most: s.MaxOpenConnections, Open: s.OpenConnections, Busy: s.InUse, Waits: s.WaitCount,
		Waited: s.WaitDuration}
}
