package main

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/store"
)

// events are the flags that say where visits are kept for analytics.
type events struct {
	Events string `help:"Where visits are kept for analytics: segments (Parquet files), database (the main database) or clickhouse://user:password@host:port/database; default: what the installation has, segments for a new one." placeholder:"ENGINE"`
	segments
}

// segments are the flags of the engine segments.
type segments struct {
	SegmentStore string `default:"file" help:"Where the files of the engine segments are kept: file (in the data folder, which several processes must share) or s3://bucket/prefix?endpoint=URL&region=NAME; default: ${default}." placeholder:"ADDRESS"`
	SegmentCache int64  `default:"1024" help:"How many MiB of those files each process keeps in its data folder when they are in S3; default: ${default}." placeholder:"MIB"`
}

// check refuses what is no engine or store, before the data folder is made.
func (e *events) check() error {
	settings := e.engine(e.Events)
	if _, err := settings.Kind(); err != nil {
		return fmt.Errorf("--events %w", err)
	}
	return e.segments.check()
}

func (s *segments) check() error {
	if s.SegmentCache < 64 || s.SegmentCache > 1<<20 {
		return fmt.Errorf("--segment-cache %d is not between 64 and %d", s.SegmentCache, 1<<20)
	}
	if s.SegmentStore == "file" {
		return nil
	}
	if _, err := blob.Open(s.SegmentStore, "", blob.Segments(0)); err != nil {
		return fmt.Errorf("--segment-store: %w", err)
	}
	return nil
}

// engine returns the settings of the engine at an address.
func (s *segments) engine(address string) assembly.EngineSettings {
	return assembly.EngineSettings{Address: address, SegmentStore: s.SegmentStore, SegmentCache: s.SegmentCache << 20}
}

type eventsCommand struct {
	Status eventsStatusCommand `cmd:"" help:"Tell which engine keeps the events, and how many there are."`
	Copy   eventsCopyCommand   `cmd:"" help:"Move all events to another engine."`
	Clear  eventsClearCommand  `cmd:"" help:"Delete the events that a copy left in the engine before."`
	Erase  eventsEraseCommand  `cmd:"" help:"Delete all events of a link or of an installation of an app."`
	Export eventsExportCommand `cmd:"" help:"Write an app's events of a period to a Parquet file."`
}

// stored are the flags of a command that opens the events of an installation.
type stored struct {
	storage
	events
}

// with opens the installation for a command on events.
func (s *stored) with(ctx context.Context, f func(assembly.EngineOptions) error) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.storage.with(ctx, func(db *store.DB) error { return f(s.options(db, s.engine(s.Events))) })
}

// options returns what the engine with the settings is opened with.
func (s *storage) options(db *store.DB, settings assembly.EngineSettings) assembly.EngineOptions {
	return assembly.EngineOptions{EngineSettings: settings, DB: db, DataDir: s.DataDir, Log: warnings()}
}

// alone runs f while no waymark serve may use a SQLite data folder.
func (s *storage) alone(f func() error) error {
	if !s.embedded() {
		return f()
	}
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer release()
	return f()
}
