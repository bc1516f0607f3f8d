package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// chooses reports whether a filter chooses an event.
func chooses(f *eventstore.Filter, e *segment.Event, l *clicklog.Link) bool {
	meets := func(condition, value string) bool { return condition == "" || condition == value }
	return f.Start <= e.At && e.At < f.End && (f.Device != "" || e.Device != "bot") && meets(f.Device, e.Device) &&
		meets(f.Source, e.Source) && meets(f.Country, e.Country) && meets(f.EventType, e.Type) && f.Link(l)
}

// reference answers Count from events, in the plainest way.
type reference struct {
	q      *eventstore.Query
	groups map[string]*refGroup
}

type refGroup struct {
	eventstore.Row
	visitors, installs map[int64]bool
	links              map[string]bool
}

func newReference(q *eventstore.Query) *reference {
	t := &reference{q, map[string]*refGroup{}}
	if q.By == eventstore.None {
		t.group("", 0)
	}
	return t
}

func (t *reference) group(value string, period int) *refGroup {
	key := value
	if t.q.By == eventstore.Time {
		key = fmt.Sprint(period)
	}
	g := t.groups[key]
	if g == nil {
		g = &refGroup{eventstore.Row{Value: value, Period: period}, map[int64]bool{}, map[int64]bool{},
			map[string]bool{}}
		t.groups[key] = g
	}
	return g
}

func (t *reference) add(e *segment.Event, l *clicklog.Link) {
	switch t.q.By {
	case eventstore.Time:
		after, _ := slices.BinarySearch(t.q.Bounds, e.At+1)
		t.group("", after-1).add(t.q, e, l)
	case eventstore.ByTag:
		for _, tag := range l.TagIDs {
			t.group(tag, 0).add(t.q, e, l)
		}
		if len(l.TagIDs) == 0 {
			t.group("", 0).add(t.q, e, l)
		}
	default:
		t.group(valueOf(t.q.By, e, l), 0).add(t.q, e, l)
	}
}

func valueOf(by eventstore.Dimension, e *segment.Event, l *clicklog.Link) string {
	switch by {
	case eventstore.ByCountry:
		return e.Country
	case eventstore.ByDevice:
		return e.Device
	case eventstore.BySource:
		return e.Source
	case eventstore.ByOS:
		return e.OS
	case eventstore.ByBrowser:
		return e.Browser
	case eventstore.ByReferrer:
		return e.Referrer
	case eventstore.ByType:
		return e.Type
	case eventstore.ByLink:
		return l.ID
	case eventstore.ByDomain:
		return l.Hostname
	case eventstore.ByPrefix:
		return l.Prefix
	case eventstore.ByCampaign:
		return l.CampaignID
	case eventstore.ByFolder:
		return l.FolderID
	case eventstore.ByGroup:
		return l.Group
	}
	return ""
}

func (g *refGroup) add(q *eventstore.Query, e *segment.Event, l *clicklog.Link) {
	if g.Events == 0 || e.At < g.First {
		g.First = e.At
	}
	g.Last = max(g.Last, e.At)
	g.Events++
	switch clicklog.EventType(e.Type) {
	case clicklog.Click:
		g.Clicks++
		g.LastClick = max(g.LastClick, e.At)
		if e.Install != 0 {
			g.IdentifiedClicks++
		}
		g.visitors[e.Visitor] = true
		g.links[l.ID] = true
		return
	case clicklog.AppOpen:
		g.AppOpens++
	case clicklog.ContentView:
		g.ContentViews++
	case clicklog.LegacyContentLoad:
		g.LegacyContentLoads++
	case clicklog.RecoveryCreated:
		g.RecoveriesCreated++
		return
	case clicklog.RecoveryMatched:
		g.RecoveriesMatched++
		return
	default:
		return
	}
	if e.Install != 0 {
		g.installs[e.Install] = true
	}
}

func (t *reference) rows() []eventstore.Row {
	rows := []eventstore.Row{}
	for _, g := range t.groups {
		r := g.Row
		if t.q.Visitors {
			r.UniqueVisitors = int64(len(g.visitors))
		}
		if t.q.Installs {
			r.UniqueInstalls = int64(len(g.installs))
		}
		if t.q.Links {
			r.ActiveLinks = int64(len(g.links))
		}
		if t.leaves(&r) {
			continue
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b eventstore.Row) int {
		if t.q.By == eventstore.Time {
			return cmp.Compare(a.Period, b.Period)
		}
		return cmp.Or(cmp.Compare(b.Clicks, a.Clicks), strings.Compare(a.Value, b.Value))
	})
	if t.q.Limit > 0 {
		rows = rows[:min(t.q.Limit, len(rows))]
	}
	return rows
}

// leaves reports whether a group is left out of the answer.
func (t *reference) leaves(r *eventstore.Row) bool {
	if t.q.By == eventstore.None {
		return false
	}
	after := t.q.After
	return t.q.Clicked && r.Clicks == 0 || t.q.By != eventstore.Time && after != nil &&
		(r.Clicks > after.Clicks || r.Clicks == after.Clicks && r.Value <= after.Value)
}
