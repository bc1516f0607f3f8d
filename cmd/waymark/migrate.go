package main

import (
	"context"
	"errors"
	"fmt"
)

type migrateCommand struct{ storage }

// Run migrates and prints the version of the schema.
func (c *migrateCommand) Run(ctx context.Context) (err error) {
	if c.embedded() {
		if err := c.prepare(); err != nil {
			return err
		}
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	version, err := db.Migrate(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Println("schema version", version)
	return err
}
