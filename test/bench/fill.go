package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
)

// loadSize is how many events a loader brings at once under load.
const loadSize = 2048

// linksOf makes up the links of the client's app, of which some belong to a campaign.
func linksOf(c *client, campaign string) []clicklog.Link {
	links := make([]clicklog.Link, appLinks)
	for i := range links {
		links[i] = clicklog.Link{ID: fmt.Sprintf("%s:0198b3d2-6f0e-7c3a-9a51-%012x", c.domain, i), AppID: c.app,
			Hostname: c.domain, Slug: fmt.Sprint("slug-", i), Group: "main"}
		if i%7 == 0 {
			links[i].CampaignID = campaign
		}
	}
	return links
}

// fill appends n events to a stopped installation, as its loader would. Segments are
// merged as they would be by then. It returns the number of the large app.
func (b *bench) fill(engine assembly.EngineSettings, kind string, traffic *traffic, n int64) (app int64, err error) {
	ctx := context.Background()
	now := &clock.Clock{}
	db, err := store.Open(ctx, b.databaseAddress(), now)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	e, err := assembly.OpenEngine(ctx, assembly.EngineOptions{EngineSettings: engine, DB: db, DataDir: b.data,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	defer assembly.CloseEngine(e)
	merge := func() error { return nil }
	if s, ok := e.(*segments.Engine); ok {
		merge = func() error {
			for {
				if more, err := s.Step(ctx); err != nil || !more {
					return err
				}
			}
		}
	}
	var appending, merging time.Duration
	for i := 0; traffic.done < n; i++ {
		batch := traffic.batch(int(min(loadSize, n-traffic.done)))
		cpu := ownTime()
		if err := e.Append(ctx, batch); err != nil {
			return 0, err
		}
		appended := ownTime()
		appending += appended - cpu
		if i%16 == 0 || traffic.done == n {
			if err := merge(); err != nil {
				return 0, err
			}
		}
		merging += ownTime() - appended
	}
	for range 2 { // the day after all are sealed, and then nobody reads what was merged
		now.Move(25 * time.Hour)
		if err := merge(); err != nil {
			return 0, err
		}
	}
	b.add(fmt.Sprintf("%s: loading of %d events, CPU µs each", kind, n), "%.2f", per(appending, int(n)), 0,
		"in batches of 2,048, this process")
	if kind != assembly.Segments {
		return 0, nil
	}
	b.add("  merging and sealing, CPU µs each", "%.2f", per(merging, int(n)), 30, "30 is 3 % of a processor at 1,000 a second")
	size, err := bytesIn(filepath.Join(b.data, "events"))
	if err != nil {
		return 0, err
	}
	sealed, err := store.One(ctx, db, store.Value[int64],
		"SELECT COALESCE(sum(events), 0) FROM event_segment WHERE data IS NULL")
	if err != nil {
		return 0, err
	}
	if sealed > 0 {
		b.add("  sealed, bytes each", "%.1f", float64(size)/float64(sealed), 28, fmt.Sprintf("%d sealed events", sealed))
	}
	return store.One(ctx, db, store.Value[int64], "SELECT no FROM event_app WHERE app_id = ?", traffic.links[0].AppID)
}

// databaseAddress is the address of the installation's database.
func (b *bench) databaseAddress() string {
	if b.database == "sqlite" {
		return "sqlite:" + filepath.Join(b.data, "waymark.db")
	}
	return b.database
}

// ownTime is the processor time of this process.
func ownTime() time.Duration { return processTime(os.Getpid()) }

func bytesIn(dir string) (sum int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), ".parquet") {
			sum += info.Size()
		}
	}
	return sum, err
}
