package store

import (
	"context"
	"crypto/rand"
	"errors"
)

// InstallationValue returns the value that all processes of this installation
// share under a name. The first process that asks sets it to fresh.
func (db *DB) InstallationValue(ctx context.Context, name, fresh string) (string, error) {
	const read = "SELECT value FROM installation WHERE name = ?"
	value, err := One(ctx, db, Value[string], read, name)
	if !errors.Is(err, ErrNotFound) {
		return value, err
	}
	if _, err := db.Exec(ctx, "INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name,
		fresh); err != nil {
		return "", err
	}
	return One(ctx, db, Value[string], read, name)
}

// SetInstallationValue changes the value that all processes of this installation share
// under a name; "" removes it.
func SetInstallationValue(ctx context.Context, q Q, name, value string) error {
	if value == "" {
		_, err := q.Exec(ctx, "DELETE FROM installation WHERE name = ?", name)
		return err
	}
	_, err := q.Exec(ctx, `INSERT INTO installation (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

// EpochName is the name of the installation's epoch among its values: another one means
// that an older copy has taken the place of the database.
const EpochName = "epoch"

// Epoch returns the installation's epoch.
func (db *DB) Epoch(ctx context.Context) (string, error) {
	return db.InstallationValue(ctx, EpochName, rand.Text())
}

// NewEpoch gives the installation another epoch, unless it has another one than old
// already.
func (db *DB) NewEpoch(ctx context.Context, old string) error {
	_, err := db.Exec(ctx, "UPDATE installation SET value = ? WHERE name = ? AND value = ?", rand.Text(), EpochName, old)
	return err
}
