package enginetest

import (
	"cmp"
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// group is what Count gathers about a group.
type group struct {
	row                eventstore.Row
	visitors, installs map[int64]bool
	links              map[string]bool
}

// Count implements eventstore.Engine.
func (r *Reference) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) ([][]eventstore.Row,
	error) {
	return eventstore.OneByOne(ctx, f, by, r.count)
}

func (r *Reference) count(ctx context.Context, q *eventstore.Query) ([]eventstore.Row, error) {
	groups := map[eventstore.Row]*group{}
	of := func(key eventstore.Row) *group {
		if groups[key] == nil {
			groups[key] = &group{row: key, visitors: map[int64]bool{}, installs: map[int64]bool{},
				links: map[string]bool{}}
		}
		return groups[key]
	}
	if q.By == eventstore.None {
		of(eventstore.Row{})
	}
	for _, e := range r.chosen(&q.Filter) {
		for _, key := range keys(q, &e) {
			of(key).add(&e)
		}
	}
	rows := []eventstore.Row{}
	for _, g := range groups {
		row := g.result(q)
		if q.Clicked && row.Clicks == 0 || q.After != nil && inRank(row, *q.After) <= 0 {
			continue
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b eventstore.Row) int {
		return cmp.Or(cmp.Compare(a.Period, b.Period), inRank(a, eventstore.Rank{Clicks: b.Clicks, Value: b.Value}))
	})
	if q.Limit > 0 && len(rows) > q.Limit {
		rows = rows[:q.Limit]
	}
	return rows, ctx.Err()
}

// inRank compares a group with a place in the order of Count.
func inRank(row eventstore.Row, place eventstore.Rank) int {
	return cmp.Or(cmp.Compare(place.Clicks, row.Clicks), cmp.Compare(row.Value, place.Value))
}

// keys returns the groups of an event, as rows that have only what tells groups apart.
func keys(q *eventstore.Query, e *clicklog.Event) []eventstore.Row {
	switch q.By {
	case eventstore.Time:
		for i, bound := range q.Bounds[1:] {
			if e.At < bound {
				return []eventstore.Row{{Period: i}}
			}
		}
		return nil
	case eventstore.ByTag:
		if len(e.Link.TagIDs) == 0 {
			return []eventstore.Row{{}}
		}
		var keys []eventstore.Row
		for _, tag := range e.Link.TagIDs {
			keys = append(keys, eventstore.Row{Value: tag})
		}
		return keys
	}
	return []eventstore.Row{{Value: map[eventstore.Dimension]string{
		eventstore.None:       "",
		eventstore.ByCountry:  e.Country,
		eventstore.ByDevice:   e.Device,
		eventstore.BySource:   e.Source,
		eventstore.ByOS:       e.OS,
		eventstore.ByBrowser:  e.Browser,
		eventstore.ByReferrer: e.ReferrerHost,
		eventstore.ByLink:     e.Link.ID,
		eventstore.ByDomain:   e.Link.Hostname,
		eventstore.ByPrefix:   e.Link.Prefix,
		eventstore.ByCampaign: e.Link.CampaignID,
		eventstore.ByFolder:   e.Link.FolderID,
		eventstore.ByGroup:    e.Link.Group,
		eventstore.ByType:     string(e.Type),
	}[q.By]}}
}

// add counts an event.
func (g *group) add(e *clicklog.Event) {
	r := &g.row
	if r.Events == 0 {
		r.First, r.Last = e.At, e.At
	}
	r.First, r.Last = min(r.First, e.At), max(r.Last, e.At)
	r.Events++
	switch e.Type {
	case clicklog.Click:
		r.Clicks++
		r.LastClick = max(r.LastClick, e.At)
		g.visitors[e.Visitor] = true
		g.links[e.Link.ID] = true
		if e.Install != 0 {
			r.IdentifiedClicks++
		}
	case clicklog.AppOpen:
		r.AppOpens++
	case clicklog.ContentView:
		r.ContentViews++
	case clicklog.LegacyContentLoad:
		r.LegacyContentLoads++
	case clicklog.RecoveryCreated:
		r.RecoveriesCreated++
	case clicklog.RecoveryMatched:
		r.RecoveriesMatched++
	}
	native := e.Type == clicklog.AppOpen || e.Type == clicklog.ContentView || e.Type == clicklog.LegacyContentLoad
	if native && e.Install != 0 {
		g.installs[e.Install] = true
	}
}

// result returns the counts of the group that a query asks for.
func (g *group) result(q *eventstore.Query) eventstore.Row {
	row := g.row
	if q.Visitors {
		row.UniqueVisitors = int64(len(g.visitors))
	}
	if q.Links {
		row.ActiveLinks = int64(len(g.links))
	}
	if q.Installs {
		row.UniqueInstalls = int64(len(g.installs))
	}
	return row
}
