package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/backup"
	"github.com/waymarkhq/waymark/internal/store"
)

type backupCommand struct {
	storage
	images
	segments
	Dir string `arg:"" help:"Folder of the backup, which must be empty or not there." placeholder:"DIR"`
}

// Run copies an installation, also beside its running processes.
func (c *backupCommand) Run(ctx context.Context) error {
	if err := errors.Join(c.images.check(), c.segments.check()); err != nil {
		return err
	}
	return c.with(ctx, func(db *store.DB) error {
		kind, err := assembly.Recorded(ctx, db)
		if err != nil {
			return err
		}
		if settings := c.engine(""); kind != assembly.ClickHouse {
			if err := settings.Choose(ctx, db); err != nil {
				return err
			}
		}
		m, err := backup.Write(ctx, backup.Source{DB: db, DataDir: c.DataDir, Version: versionText(),
			Assets: c.AssetStore == "file", Events: c.SegmentStore == "file"}, c.Dir)
		if err != nil {
			return fmt.Errorf("backup into %s: %w", c.Dir, err)
		}
		fmt.Printf("wrote a backup of %s, %s, schema %d, to %s: %s, %d bytes\n",
			m.TakenAt.Format("2006-01-02 15:04:05Z"), m.Engine, m.Schema, c.Dir, number(int64(len(m.Files)), "file"), m.Bytes())
		const bucket = "not in it are the %s, in the bucket of %s: keep its objects, also deleted ones, for as long as " +
			"this backup\n"
		if c.AssetStore != "file" {
			fmt.Printf(bucket, "images", "--asset-store")
		}
		if kind == assembly.Segments && c.SegmentStore != "file" {
			fmt.Printf(bucket, "files of events", "--segment-store")
		}
		if kind == assembly.ClickHouse {
			fmt.Println("not in it are the events, in ClickHouse: make a backup there")
		}
		return nil
	})
}
