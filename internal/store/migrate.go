package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the lock that lets one process migrate at a
// time.
const migrationLock = 0x7761796d61726b

// NewestSchema is the version of the schema that this program works with.
var NewestSchema = newestSchema()

func newestSchema() (version int64) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		number, _, _ := strings.Cut(filepath.Base(name), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(err)
		}
		version = max(version, n)
	}
	return version
}

// newestApplied reads the version of a schema.
const newestApplied = "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied"

// Schema returns the version of the database's schema, 0 for a database that
// was never migrated.
func (db *DB) Schema(ctx context.Context) (int64, error) {
	migrated, err := Exists(ctx, db, db.dialect.findTable, "goose_db_version")
	if err != nil || !migrated {
		return 0, err
	}
	return One(ctx, db, Value[int64], newestApplied)
}

// CheckSchema refuses a database whose schema is not the one of this program.
func (db *DB) CheckSchema(ctx context.Context) error {
	version, err := db.Schema(ctx)
	switch {
	case err != nil:
		return err
	case version == 0:
		return errors.New("the database is empty: run waymark migrate")
	case version < NewestSchema:
		return fmt.Errorf("the database has schema %d, this program has %d: run waymark migrate", version, NewestSchema)
	}
	return refuseNewer(version)
}

func refuseNewer(version int64) error {
	if version > NewestSchema {
		return fmt.Errorf("the database has schema %d, this program has only %d: use the newer waymark that migrated it", version, NewestSchema)
	}
	return nil
}

// Migrate brings the schema to the newest version and returns it; it refuses a schema that
// is newer than this program, and a database whose restore was interrupted. Several
// processes may call it at once.
func (db *DB) Migrate(ctx context.Context) (version int64, err error) {
	err = db.migrating(ctx, func() error {
		if version, err = db.Schema(ctx); err == nil && version > 0 {
			err = db.CheckRestored(ctx)
		}
		if err == nil {
			version, err = db.migrate(ctx, NewestSchema)
		}
		return err
	})
	return version, err
}

// migrating runs f while nobody else migrates.
func (db *DB) migrating(ctx context.Context, f func() error) (err error) {
	if db.writer == nil {
		conn, err := db.migrations.Conn(ctx)
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		defer func() {
			_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
			err = errors.Join(err, unlockErr)
		}()
		return f()
	}
	return db.writer.alone(ctx, f)
}

// migrate brings the schema to a version that this program knows.
func (db *DB) migrate(ctx context.Context, newest int64) (version int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	dialect := goose.DialectPostgres
	if db.writer != nil {
		dialect = goose.DialectSQLite3
	}
	if version, err = db.Schema(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if err := refuseNewer(version); err != nil {
		return 0, err
	}
	if version == newest {
		return version, nil
	}
	provider, err := goose.NewProvider(dialect, db.migrations, files)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if _, err := provider.UpTo(ctx, newest); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if version, err = provider.GetDBVersion(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return version, nil
}
