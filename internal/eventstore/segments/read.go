package segments

import (
	"context"
	"math"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/scan"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Read implements eventstore.Engine.
func (e *Engine) Read(ctx context.Context, appID string, after *eventstore.Place, limit int) (
	events []clicklog.Event, err error) {
	defer fault.Wrap(&err, "segments.Read(app %q)", appID)
	bytewise := e.DB.Dialect().Bytewise
	apps, err := store.All(ctx, e.DB, store.Value[string],
		"SELECT app_id FROM event_app WHERE app_id"+bytewise+" >= ? ORDER BY app_id"+bytewise, appID)
	events = []clicklog.Event{}
	for _, app := range apps {
		if err != nil || len(events) == limit {
			break
		}
		if app != appID {
			after = nil
		}
		events, err = e.readApp(ctx, app, after, limit, events)
	}
	return events, err
}

// readApp adds events of an app to events until there are limit.
func (e *Engine) readApp(ctx context.Context, appID string, after *eventstore.Place, limit int,
	events []clicklog.Event) ([]clicklog.Event, error) {
	place := eventstore.Place{At: math.MinInt64}
	if after != nil {
		place = *after
	}
	v, err := e.view(ctx, place.At, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	defer v.close()
	states, err := e.links.Of(ctx, appID)
	if err != nil {
		return nil, err
	}
	var groups []scan.Group
	for _, g := range v.groups() {
		if s := g.File.Group(g.Index); s.FirstApp <= states.App && states.App <= s.LastApp && s.LastAt >= place.At {
			groups = append(groups, g)
		}
	}
	for row, err := range merged(groups, key{states.App, int64(place.At), place.ID}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if row.App != states.App || len(events) == limit {
			break
		}
		events = append(events, clicklog.Event{
			ID: row.ID.Int(), At: row.At, Type: clicklog.EventType(row.Type), Link: *states.Link(row.Link),
			Visitor: row.Visitor, Install: row.Install, Device: row.Device, OS: row.OS, Browser: row.Browser,
			Source: row.Source, Country: row.Country, ReferrerHost: row.Referrer, RuleID: row.Rule,
			Destination: row.Destination,
		})
	}
	return events, nil
}
