package store

import "database/sql"

// LongBusy returns how many queries of Long run.
func (db *DB) LongBusy() int {
	if p, ok := db.long.(pooled); ok {
		return int(p.on.Stat().AcquiredConns())
	}
	return db.long.(watched).on.(*sql.DB).Stats().InUse
}
