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

// CheckRestored refuses a database that a restore or a move began to fill and did not end.
func (db *DB) CheckRestored(ctx context.Context) error {
	command, err := db.restoring(ctx)
	if err == nil && command != "" {
		err = fmt.Errorf("the %s of this database did not end: run waymark %[1]s again", command)
	}
	return err
}

// restoring returns the command that began to fill the database and did not end, "" for none.
func (db *DB) restoring(ctx context.Context) (command string, err error) {
	command, err = One(ctx, db, Value[string], "SELECT value FROM installation WHERE name = ?", restoringName)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return command, err
}

// CheckVacant refuses a PostgreSQL database that has an installation: Restore and Move would
// overwrite it. What either of them did not end is none.
func (db *DB) CheckVacant(ctx context.Context, schema int64) error {
	version, err := db.Schema(ctx)
	if err != nil || version == 0 {
		return err
	}
	if version > schema {
		return fmt.Errorf("the database has schema %d already, what is to come has %d: name an empty database", version,
			schema)
	}
	if command, err := db.restoring(ctx); err != nil || command != "" {
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
	return db.beginFilling(ctx, schema, "restore")
}

// beginFilling makes a vacant PostgreSQL database one that a command fills.
func (db *DB) beginFilling(ctx context.Context, schema int64, command string) error {
	return db.migrating(ctx, func() error {
		if err := db.CheckVacant(ctx, schema); err != nil {
			return err
		}
		if _, err := db.migrate(ctx, schema); err != nil {
			return err
		}
		return SetInstallationValue(ctx, db, restoringName, command)
	})
}

// Restore fills a PostgreSQL database after BeginRestore with what Backup copied, and gives
// the installation another epoch. It is all there or nothing.
func (db *DB) Restore(ctx context.Context, tables []Table, from Copies) error {
	return db.fill(ctx, func(tx pgx.Tx, q Q) error {
		if err := empty(ctx, tx, tables); err != nil {
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
		return Restored(ctx, q)
	})
}

// fill runs f in a transaction that may take as long as it needs.
func (db *DB) fill(ctx context.Context, f func(pgx.Tx, Q) error) error {
	conn, err := db.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		return f(tx, state{session{conn, &db.dialect}, &db.dialect})
	}); err != nil {
		return err
	}
	// Nothing is known of the rows yet. Where this fails, the server finds out by itself, later.
	conn.Exec(ctx, "ANALYZE")
	return nil
}

// empty removes the rows that migrations have made.
func empty(ctx context.Context, tx pgx.Tx, tables []Table) error {
	names := make([]string, len(tables))
	for i := range tables {
		names[i], _ = tables[i].quoted()
	}
	_, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", "))
	return err
}

// Restored makes a copy of a database the one of an installation that was restored: with
// another epoch.
func Restored(ctx context.Context, q Q) error {
	return SetInstallationValue(ctx, q, EpochName, rand.Text())
}
