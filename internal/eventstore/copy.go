package eventstore

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/turns"
)

const (
	// copied is how many events a copy takes at a time.
	copied = 8192
	// LastInstant comes after all events: the year 2200.
	LastInstant clock.Instant = 7_258_118_400_000_000
)

// Copying is how far a copy of all events from one engine to another is.
type Copying struct {
	// ID names the copy among the logs that an engine has loaded events from. It is
	// never used for another copy.
	ID string `json:"id"`
	// AppID and Place are those of the last event that was copied; "" and zero before
	// the first one.
	AppID string `json:"appId"`
	Place Place  `json:"place"`
	// Events is how many events were copied.
	Events int64 `json:"events"`
}

// Copy copies what is left of a copy, in the order of Engine.Read. It calls kept after
// each batch, which must keep the state durably: a copy that ends early, with an error
// or with its process, goes on from the last state that was kept. A batch that was
// copied but not kept comes again, and the engine to recognises it like one of a click
// log. Nobody may change the events of from meanwhile.
func Copy(ctx context.Context, from, to Engine, c Copying, kept func(context.Context, Copying) error) (err error) {
	defer fault.Wrap(&err, "copy events after %d", c.Events)
	for {
		var after *Place
		if c.AppID != "" {
			after = &c.Place
		}
		events, err := from.Read(ctx, c.AppID, after, copied)
		if err != nil || len(events) == 0 {
			return err
		}
		run := clicklog.Run{Log: c.ID, File: 1, Ends: make([]int64, len(events))}
		for i := range run.Ends {
			run.Ends[i] = c.Events + int64(i) + 1
		}
		if err := to.Append(ctx, &clicklog.Batch{Events: events, Runs: []clicklog.Run{run}}); err != nil {
			return err
		}
		last := &events[len(events)-1]
		c.AppID, c.Place, c.Events = last.Link.AppID, Place{At: last.At, ID: last.ID}, c.Events+int64(len(events))
		if err := kept(ctx, c); err != nil {
			return err
		}
	}
}

const (
	// part is the period that Totals counts at a time, so that no engine takes too long.
	part = 30 * 24 * time.Hour
	// smallestPart is not halved: an engine that is too slow for it is too slow for all.
	smallestPart = time.Hour
)

// Totals counts the events of each app of an engine, those of crawlers included. now
// comes after most of them.
func Totals(ctx context.Context, e Engine, now clock.Instant) (_ map[string]int64, err error) {
	defer fault.Wrap(&err, "count all events")
	totals := map[string]int64{}
	// The place after all events of an app leads to the first event of the next one.
	app, after := "", (*Place)(nil)
	for {
		next, err := e.Read(ctx, app, after, 1)
		if err != nil || len(next) == 0 {
			return totals, err
		}
		app, after = next[0].Link.AppID, &Place{At: LastInstant}
		for start := next[0].At; start < LastInstant; {
			end := start.Add(part)
			if start > now {
				end = LastInstant
			}
			n, err := countPart(ctx, e, Filter{AppID: app, Start: start, End: end})
			if err != nil {
				return nil, err
			}
			totals[app] += n
			start = end
		}
	}
}

// countPart counts the events of a period, half of it at a time where it has too many for
// the deadline of a query.
func countPart(ctx context.Context, e Engine, f Filter) (n int64, err error) {
	for _, device := range []string{"", "bot"} {
		f.Device = device
		rows, err := Count(ctx, e, Query{Filter: f})
		if errors.Is(err, turns.ErrSlow) && ctx.Err() == nil && f.End.Sub(f.Start) > smallestPart {
			return countHalves(ctx, e, f)
		}
		if err != nil {
			return 0, err
		}
		n += rows[0].Events
	}
	return n, nil
}

func countHalves(ctx context.Context, e Engine, f Filter) (int64, error) {
	first, second := f, f
	first.End = f.Start + (f.End-f.Start)/2
	second.Start = first.End
	n, err := countPart(ctx, e, first)
	if err != nil {
		return 0, err
	}
	m, err := countPart(ctx, e, second)
	return n + m, err
}
