package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the lock that lets one process migrate at a
// time.
const migrationLock = 0x7761796d61726b

// Migrate brings the schema to the newest version and returns it. Several
// processes may call it at once.
func (db *DB) Migrate(ctx context.Context) (version int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	dialect := goose.DialectSQLite3
	if db.dialect.numbered {
		dialect = goose.DialectPostgres
		conn, err := db.pools[0].Conn(ctx)
		if err != nil {
			return 0, fmt.Errorf("migrate: %w", err)
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
			return 0, fmt.Errorf("migrate: %w", err)
		}
		defer func() {
			_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
			err = errors.Join(err, unlockErr)
		}()
	} else {
		db.turn <- struct{}{}
		defer func() { <-db.turn }()
	}
	provider, err := goose.NewProvider(dialect, db.pools[0], files)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if version, err = provider.GetDBVersion(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return version, nil
}
