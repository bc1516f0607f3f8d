package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
)

type doctorCommand struct {
	storage
	images
}

// Run checks the data folder, the database, its schema, the asset store and the
// queue of jobs, and tells what it found, one line a check.
func (c *doctorCommand) Run(ctx context.Context) error {
	if err := c.existing(); err != nil {
		return err
	}
	return c.with(ctx, func(db *store.DB) error {
		report := func(check, found string) { fmt.Printf("%-12s %s\n", check, found) }
		report("data folder", "ok, writable: "+c.DataDir)
		started := time.Now()
		version, err := db.Migrate(ctx)
		if err != nil {
			return err
		}
		report("database", fmt.Sprintf("ok, %s, schema version %d, answers in %s", db.Dialect().Name, version, time.Since(started).Round(time.Microsecond)))
		blobs, err := c.openBlobs(c.DataDir)
		if err == nil {
			err = blobs.Check(ctx)
		}
		if err != nil {
			return err
		}
		report("asset store", "ok")
		n, oldest, err := jobs.Depth(ctx, db)
		if err != nil {
			return err
		}
		late := max(0, db.Now().Sub(oldest))
		switch {
		case n == 0:
			report("jobs", "ok, none waiting")
		case late > time.Minute:
			report("jobs", fmt.Sprintf("%d waiting, the oldest due for %s: is an executor running?", n, late.Round(time.Second)))
			return errors.New("jobs are not being done")
		default:
			report("jobs", fmt.Sprintf("ok, %d waiting", n))
		}
		return nil
	})
}
