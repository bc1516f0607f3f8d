package store

import "database/sql"

// Busy returns how many connections of a view are in use, and how many it has.
func (db *DB) Busy() (used, all int) {
	if p, ok := db.reader.(pooled); ok {
		return int(p.on.Stat().AcquiredConns()), int(p.on.Config().MaxConns)
	}
	stats := db.reader.(handle).on.(*sql.DB).Stats()
	return stats.InUse, stats.MaxOpenConnections
}
