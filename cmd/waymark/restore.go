package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/backup"
	"github.com/waymarkhq/waymark/internal/store"
)

type restoreCommand struct {
	storage
	storedBackup
}

// Run makes an installation of a backup. It overwrites nothing.
func (c *restoreCommand) Run(ctx context.Context) (err error) {
	if err := backup.CheckVacant(c.DataDir); err != nil {
		return err
	}
	b, err := backup.Open(ctx, c.From)
	if err != nil {
		return fmt.Errorf("restore %s: %w", c.From, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if c.embedded() != (b.Engine == "sqlite") {
		return fmt.Errorf("the backup is one of a %s database: name such a --database", b.Engine)
	}
	var db *store.DB
	if !c.embedded() {
		if db, err = c.open(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
	}
	if err := c.prepare(); err != nil {
		return err
	}
	return c.alone(func() error {
		if err := b.Restore(ctx, c.DataDir, db); err != nil {
			return fmt.Errorf("the restore did not end: %w", err)
		}
		_, err := fmt.Printf("restored the backup of %s: %s\n", taken(&b.Manifest), size(&b.Manifest))
		return err
	})
}
