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
	To string `arg:"" help:"Where the backup goes: a folder that is empty or not there, or s3://bucket/prefix?endpoint=URL&region=NAME with a prefix under which nothing is." placeholder:"DIR|S3"`
}

// Run copies an installation, also beside its running processes.
func (c *backupCommand) Run(ctx context.Context) error {
	if err := errors.Join(c.images.check(), c.segments.check(), backup.CheckAddress(c.To)); err != nil {
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
			Assets: c.AssetStore == "file", Events: c.SegmentStore == "file"}, c.To)
		if err != nil {
			return fmt.Errorf("backup into %s: %w", c.To, err)
		}
		fmt.Printf("wrote a backup of %s to %s: %s\n", taken(&m), c.To, size(&m))
		if m.Linked > 0 {
			fmt.Printf("%s of it did not change since the backup beside it, and share their bytes\n", number(int64(m.Linked), "file"))
		}
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

// taken tells of what and when a backup is.
func taken(m *backup.Manifest) string {
	return fmt.Sprintf("%s, %s, schema %d", m.TakenAt.Format("2006-01-02 15:04:05Z"), m.Engine, m.Schema)
}

// size tells how large a backup is.
func size(m *backup.Manifest) string {
	return fmt.Sprintf("%s, %d bytes", number(int64(len(m.Files)), "file"), m.Bytes())
}

// storedBackup is the argument of the commands that read a backup.
type storedBackup struct {
	From string `arg:"" help:"The backup: a folder, or s3://bucket/prefix?endpoint=URL&region=NAME." placeholder:"DIR|S3"`
}

type verifyCommand struct{ storedBackup }

// Run reads a whole backup and writes nothing.
func (c *verifyCommand) Run(ctx context.Context) error {
	m, err := backup.Verify(ctx, c.From)
	if err != nil {
		return fmt.Errorf("verify %s: %w", c.From, err)
	}
	_, err = fmt.Printf("verified the backup of %s: %s\n", taken(&m), size(&m))
	return err
}
