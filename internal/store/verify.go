package store

import (
	"context"
	"fmt"
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
