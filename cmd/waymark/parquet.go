package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

type eventsExportCommand struct {
	stored
	Parquet string `required:"" help:"The file to write, which must not be there yet." placeholder:"FILE"`
	App     string `required:"" help:"Id of the app." placeholder:"ID"`
	Start   string `required:"" help:"First instant of the period, such as 2026-11-01 (UTC) or 2026-11-01T00:00:00+01:00." placeholder:"TIME"`
	End     string `required:"" help:"First instant after the period." placeholder:"TIME"`
}

// Run writes the file under another name first, so that it is complete or not there.
func (c *eventsExportCommand) Run(ctx context.Context) error {
	start, err := instant("--start", c.Start)
	if err != nil {
		return err
	}
	end, err := instant("--end", c.End)
	if err != nil {
		return err
	}
	if end <= start {
		return errors.New("--end must be after --start")
	}
	if c.App == "" {
		return errors.New("--app is empty")
	}
	if err := c.checkFile(); err != nil {
		return err
	}
	return c.with(ctx, func(o assembly.EngineOptions) error {
		return assembly.WithEngine(ctx, o, func(engine eventstore.Engine) (err error) {
			if err := knownApp(ctx, o.DB, engine, c.App); err != nil {
				return err
			}
			file, err := os.CreateTemp(filepath.Dir(c.Parquet), ".exporting-*")
			if err != nil {
				return fmt.Errorf("--parquet: %w", err)
			}
			defer os.Remove(file.Name())
			n, err := writeEvents(ctx, file, engine, c.App, start, end)
			if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
				return err
			}
			if err := os.Rename(file.Name(), c.Parquet); err != nil {
				return err
			}
			_, err = fmt.Printf("wrote %s of app %s from %s to %s into %s\n", number(n, "event"), c.App, start, end, c.Parquet)
			return err
		})
	})
}

// checkFile refuses a file that is there, and one in a folder that is not.
func (c *eventsExportCommand) checkFile() error {
	if _, err := os.Stat(c.Parquet); err == nil {
		return fmt.Errorf("--parquet %s is there already; choose another name", c.Parquet)
	}
	folder := filepath.Dir(c.Parquet)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("--parquet: the folder %s does not exist", folder)
	}
	return nil
}

// instant reads an instant, or a date for the beginning of that day in UTC.
func instant(flag, value string) (clock.Instant, error) {
	if day, err := time.Parse(time.DateOnly, value); err == nil {
		return clock.At(day), nil
	}
	at, err := clock.Parse(value)
	if err != nil {
		return 0, fmt.Errorf("%s %w, nor a date such as 2026-11-20", flag, err)
	}
	return at, nil
}

// exportedEvent is a row of an exported file, which docs/event-files.md describes. Text
// that an event does not have is null.
type exportedEvent struct {
	At          int64    `parquet:"occurred_at,delta,timestamp(microsecond)"`
	ID          int64    `parquet:"id"`
	Type        string   `parquet:"type,dict"`
	AppID       string   `parquet:"app_id,dict"`
	LinkID      string   `parquet:"link_id,dict"`
	Domain      string   `parquet:"domain,dict"`
	Prefix      string   `parquet:"prefix,dict"`
	Slug        string   `parquet:"slug,dict"`
	Group       string   `parquet:"group,dict"`
	CampaignID  string   `parquet:"campaign_id,dict,optional"`
	FolderID    string   `parquet:"folder_id,dict,optional"`
	TagIDs      []string `parquet:"tag_ids,list"`
	Visitor     int64    `parquet:"visitor,dict"`
	Install     int64    `parquet:"install,dict,optional"`
	Device      string   `parquet:"device,dict"`
	OS          string   `parquet:"os,dict,optional"`
	Browser     string   `parquet:"browser,dict,optional"`
	Source      string   `parquet:"source,dict"`
	Country     string   `parquet:"country,dict"`
	Referrer    string   `parquet:"referrer_host,dict,optional"`
	RuleID      string   `parquet:"rule_id,dict,optional"`
	Destination string   `parquet:"destination,dict"`
}

func exported(e *clicklog.Event) exportedEvent {
	l := &e.Link
	return exportedEvent{
		At: int64(e.At), ID: e.ID, Type: string(e.Type), AppID: l.AppID, LinkID: l.ID, Domain: l.Hostname,
		Prefix: l.Prefix, Slug: l.Slug, Group: l.Group, CampaignID: l.CampaignID, FolderID: l.FolderID,
		TagIDs: l.TagIDs, Visitor: e.Visitor, Install: e.Install, Device: e.Device, OS: e.OS, Browser: e.Browser,
		Source: e.Source, Country: e.Country, Referrer: e.ReferrerHost, RuleID: e.RuleID, Destination: e.Destination,
	}
}

const (
	// exportedAtOnce is how many events are read at a time.
	exportedAtOnce = 8192
	// exportedGroup is how many events a row group has, which is held in memory.
	exportedGroup = 128 << 10
)

// writeEvents writes the events of an app that happened from start on and before end,
// the oldest first, and returns how many.
func writeEvents(ctx context.Context, file *os.File, engine eventstore.Engine, appID string,
	start, end clock.Instant) (n int64, err error) {
	w := parquet.NewGenericWriter[exportedEvent](file, parquet.Compression(&zstd.Codec{}),
		parquet.MaxRowsPerRowGroup(exportedGroup), parquet.CreatedBy("waymark", "", ""))
	after, rows := &eventstore.Place{At: start - 1, ID: math.MaxInt64}, make([]exportedEvent, 0, exportedAtOnce)
	for {
		events, err := engine.Read(ctx, appID, after, exportedAtOnce)
		if err != nil {
			return n, err
		}
		rows = rows[:0]
		for i := range events {
			if e := &events[i]; e.Link.AppID == appID && e.At < end {
				rows = append(rows, exported(e))
			}
		}
		if _, err := w.Write(rows); err != nil {
			return n, fmt.Errorf("write the file: %w", err)
		}
		n += int64(len(rows))
		if len(rows) < exportedAtOnce {
			return n, w.Close()
		}
		after = &eventstore.Place{At: events[len(events)-1].At, ID: events[len(events)-1].ID}
	}
}
