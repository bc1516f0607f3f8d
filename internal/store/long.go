package store

import "context"

// How many queries of Long run at once. On SQLite they use this machine's processors; on
// PostgreSQL they use the server's, which several processes may share.
const (
	longOnSQLite   = 2
	longOnPostgres = 4
)

// Long returns the database for queries that may take seconds, such as those over all
// events of an app. They have connections of their own, so that nothing else ever waits
// for them, and end with their context: at its deadline, or when the client leaves.
//
// SQLite notices that until it has found the first row, and between two rows. So a query
// that may search for long sorts or groups its rows.
func (db *DB) Long() Q { return long{db} }

// LongReads returns how many queries of Long run at once. Further ones wait for as long
// as their context lets them.
func (db *DB) LongReads() int {
	if db.postgres != nil {
		return longOnPostgres
	}
	return longOnSQLite
}

// long is a DB whose queries may take long.
type long struct{ *DB }

// Rows implements Q.
func (l long) Rows(ctx context.Context, query string, args ...any) (Rows, error) {
	return l.long.rows(ctx, query, args)
}

// watched is a handle on SQLite whose queries are interrupted when their context is done.
// Others are not: to watch costs more than a short statement.
type watched struct{ handle }

func (w watched) rows(ctx context.Context, query string, args []any) (Rows, error) {
	r, err := w.on.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, describe(query, err)
	}
	return r, nil
}
