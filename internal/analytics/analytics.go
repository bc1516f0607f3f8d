// Package analytics answers what happened on an app's links, from the event
// store (api-v1.md, Analytics; completions.md §7). Everything it counts is one
// question to eventstore.Engine, which knows instants only: the calendars of time
// zones are here. It does not hold events: recording is the redirector's, storing
// package eventstore's. docs/analytics.md defines each number for owners.
package analytics

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// service holds what the operations need besides the call.
type service struct{ events eventstore.Engine }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, events eventstore.Engine) part.Part {
	a := &service{events}
	row := func(id, path, summary, doc string) op.Op {
		return op.Op{ID: id, Method: "GET", Path: "/analytics/" + path, Perm: "analytics:read", App: op.AppInQuery, Turns: true,
			Summary: summary, Doc: doc}
	}
	op.Read(p, row("getAnalyticsSummary", "summary", "Get click totals of a period", ""), inTime(a.summary))
	op.Read(p, row("getAnalyticsTimeseries", "timeseries", "Count a period by hours, days, weeks or months",
		"The buckets follow the calendar of timezone, through changes of its clocks."), inTime(a.timeseries))
	op.Read(p, row("getAnalyticsBreakdown", "breakdown", "Count a period by country, device, link and more",
		"Values with the most clicks come first. Where clicks are equal, null comes first, and the others are compared "+
			"byte by byte."), inTime(a.breakdown))
	op.Paged(p, row("getAnalyticsTopLinks", "top-links", "List the links with the most clicks",
		"Links without a click are left out. Clicks that come in between two pages may move links from one to the other."),
		pageInTime(a.topLinks))
	op.Paged(p, row("getAnalyticsEvents", "events", "List events, newest first",
		"Nothing of an event leads back to its visitor."), pageInTime(a.list))
	op.Read(p, row("getAnalyticsNative", "native", "Count what people did in the app",
		"These events are reported by apps, and believed as they are."), inTime(a.native))
	op.Read(p, row("getAnalyticsRecovery", "recovery", "Count links found again after an installation", ""), inTime(a.recovery))
	op.Read(p, row("getAnalyticsCampaignsCampaignId", "campaigns/{campaignId}", "Get what a campaign brought",
		"Clicks count for the campaign that their link had at the time."), inTime(a.campaign))
	return part.Part{
		Name: "analytics",
		Sweeps: []part.Sweep{{Name: "events", Run: func(ctx context.Context, db *store.DB, limit int) (int64, error) {
			// By whole days: engines rewrite files in which events are to be deleted.
			begin := retained(db.Now()).Time().Truncate(day)
			return events.Sweep(ctx, clock.At(begin), int64(limit))
		}}, {Name: "counts of events that were not stored", Run: func(ctx context.Context, db *store.DB,
			limit int) (int64, error) {
			return eventstore.SweepUnstored(ctx, db, retained(db.Now()), limit)
		}}},
		OfApp: part.OfApp{Tables: []string{"event_app", "event_unstored"}},
	}
}

// retained returns the instant from which on events are kept.
func retained(now clock.Instant) clock.Instant { return now.Add(-eventstore.Retention) }

// inTime bounds all that a call reads, one query after the other, by the deadline of one.
func inTime[In, Out any](read func(context.Context, *op.Call, *In) (Out, error)) func(context.Context, *op.Call,
	*In) (Out, error) {
	return func(ctx context.Context, c *op.Call, in *In) (out Out, err error) {
		err = turns.InTime(ctx, func(ctx context.Context) error {
			out, err = read(ctx, c, in)
			return err
		})
		return out, err
	}
}

// pageInTime is inTime for a list.
func pageInTime[In, Out any](read func(context.Context, *op.Call, *In, op.Window) (Out, error)) func(context.Context,
	*op.Call, *In, op.Window) (Out, error) {
	return func(ctx context.Context, c *op.Call, in *In, w op.Window) (Out, error) {
		return inTime(func(ctx context.Context, c *op.Call, in *In) (Out, error) { return read(ctx, c, in, w) })(ctx, c, in)
	}
}
