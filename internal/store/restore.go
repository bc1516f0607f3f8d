package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// restoringName is the name of the installation's value that a database has while it is
// restored.
const restoringName = "restoring"

// CheckRestored refuses a database whose restore was interrupted.
func (db *DB) CheckRestored(ctx context.Context) error {
	restoring, err := db.restoring(ctx)
	if err == nil && restoring {
		err = errors.New("the restore of this database did not end: run waymark restore again")
	}
	return err
}

func (db *DB) restoring(ctx context.Context) (bool, error) {
	return Exists(ctx, db, "SELECT 1 FROM installation WHERE name = ?", restoringName)
}

// CheckVacant refuses a PostgreSQL database that has an installation: Restore would
// overwrite it. An interrupted restore is none.
func (db *DB) CheckVacant(ctx context.Context, schema int64) error {
	version, err := db.Schema(ctx)
	if err != nil || version == 0 {
		return err
	}
	if version > schema {
		return fmt.Errorf("the database has schema %d already, the backup has %d: name an empty database", version, schema)
	}
	if restoring, err := db.restoring(ctx); err != nil || restoring {
		return err
	}
	for _, table := range []string{"installation", "users"} {
		if taken, err := Exists(ctx, db, "SELECT 1 FROM "+table); err != nil || taken {
			return errors.Join(err, errors.New("the database has an installation already: name an empty one"))
		}
	}
	return nil
}

// BeginRestore makes a vacant PostgreSQL database one that is being restored, with a schema:
// from then on only a restore goes on with it. It refuses one that has an installation.
func (db *DB) BeginRestore(ctx context.Context, schema int64) error {
	return db.migrating(ctx, func() error {
		if err := db.CheckVacant(ctx, schema); err != nil {
			return err
		}
		if _, err := db.migrate(ctx, schema); err != nil {
			return err
		}
		return SetInstallationValue(ctx, db, restoringName, "yes")
	})
}

// Restore fills a PostgreSQL database after BeginRestore with what Backup copied, and gives
// the installation another epoch. It is all there or nothing.
func (db *DB) Restore(ctx context.Context, tables []Table, from Copies) error {
	conn, err := db.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return db.fill(ctx, tx, tables, from) }); err != nil {
		return err
	}
	// Nothing is known of the rows yet. Where this fails, the server finds out by itself, later.
	conn.Exec(ctx, "ANALYZE")
	return nil
}

func (db *DB) fill(ctx context.Context, tx pgx.Tx, tables []Table, from Copies) error {
	var names []string
	for i := range tables {
		name, _ := tables[i].quoted()
		names = append(names, name)
	}
	// Migrations have made some rows.
	if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil {
		return err
	}
	for i := range tables {
		name, columns := tables[i].quoted()
		file, err := from.Open(tables[i].FileName())
		if err != nil {
			return err
		}
		_, err = tx.Conn().PgConn().CopyFrom(ctx, file, "COPY "+name+" ("+columns+") FROM STDIN")
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("fill table %s: %w", tables[i].Name, err)
		}
	}
	return Restored(ctx, state{session{tx.Conn(), &db.dialect}, &db.dialect})
}

// Restored makes a copy of a database the one of an installation that was restored: with
// another epoch.
func Restored(ctx context.Context, q Q) error {
	return SetInstallationValue(ctx, q, EpochName, rand.Text())
}
