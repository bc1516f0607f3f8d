package store

// Busy returns how many connections of a view are in use, and how many it has.
func (db *DB) Busy() (used, all int) {
	p := db.pool("")
	return p.Busy, p.Most
}
