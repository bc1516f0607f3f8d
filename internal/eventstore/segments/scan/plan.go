package scan

import (
	"fmt"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// chooser is a Filter as far as it can be decided before any row is read.
type chooser struct {
	*eventstore.Filter
	states *States
	// links tells for each state of a link whether it meets the filter; nil when all do.
	links []bool
	// conditions are those on columns of text.
	conditions []condition
	columns    segment.Columns
}

// condition is what a filter wants of the value of a column.
type condition struct {
	column segment.Column
	meets  func(value string) bool
}

func newChooser(f *eventstore.Filter, states *States) *chooser {
	c := &chooser{Filter: f, states: states, columns: segment.Of(segment.At)}
	if f.Device == "" {
		c.where(segment.Device, func(v string) bool { return v != "bot" })
	}
	for column, want := range map[segment.Column]string{segment.Device: f.Device, segment.Source: f.Source,
		segment.Country: f.Country, segment.Type: f.EventType} {
		if want != "" {
			c.where(column, func(v string) bool { return v == want })
		}
	}
	if f.OfLinks() {
		c.columns |= segment.Of(segment.Link)
		c.links = make([]bool, len(states.links))
		for i := range states.links {
			c.links[i] = f.Link(&states.links[i])
		}
	}
	return c
}

func (c *chooser) where(column segment.Column, meets func(string) bool) {
	c.conditions = append(c.conditions, condition{column, meets})
	c.columns |= segment.Of(column)
}

// grouping tells how a question groups events.
type grouping struct {
	// column is what groups are made by: one of text, or Link, if any.
	column segment.Column
	// values are the values of the groups of link states, and of tells for each state
	// its groups: one, but for tags.
	values []string
	of     [][]int32
}

// textColumns has the dimensions that are columns.
var textColumns = map[eventstore.Dimension]segment.Column{
	eventstore.ByCountry: segment.Country, eventstore.ByDevice: segment.Device, eventstore.BySource: segment.Source,
	eventstore.ByOS: segment.OS, eventstore.ByBrowser: segment.Browser, eventstore.ByReferrer: segment.Referrer,
	eventstore.ByType: segment.Type,
}

// linkValues tells the values of the dimensions of links.
var linkValues = map[eventstore.Dimension]func(l *clicklog.Link) string{
	eventstore.ByLink:     func(l *clicklog.Link) string { return l.ID },
	eventstore.ByDomain:   func(l *clicklog.Link) string { return l.Hostname },
	eventstore.ByPrefix:   func(l *clicklog.Link) string { return l.Prefix },
	eventstore.ByCampaign: func(l *clicklog.Link) string { return l.CampaignID },
	eventstore.ByFolder:   func(l *clicklog.Link) string { return l.FolderID },
	eventstore.ByGroup:    func(l *clicklog.Link) string { return l.Group },
}

func newGrouping(by eventstore.Dimension, states *States) (*grouping, error) {
	if column, ok := textColumns[by]; ok {
		return &grouping{column: column}, nil
	}
	g := &grouping{column: segment.Link}
	value, ok := linkValues[by]
	switch {
	case by == eventstore.None, by == eventstore.Time:
		return &grouping{column: segment.At}, nil
	case by == eventstore.ByTag:
		g.byTags(states)
	case ok:
		g.byValue(states, value)
	default:
		return nil, fmt.Errorf("no dimension %q", by)
	}
	return g, nil
}

func (g *grouping) byValue(states *States, value func(l *clicklog.Link) string) {
	known := map[string]int32{}
	of := make([]int32, len(states.links))
	g.of = make([][]int32, len(states.links))
	for i := range states.links {
		of[i] = g.number(known, value(&states.links[i]))
		g.of[i] = of[i : i+1 : i+1]
	}
}

func (g *grouping) byTags(states *States) {
	known := map[string]int32{}
	for i := range states.links {
		tags := states.links[i].TagIDs
		if len(tags) == 0 {
			tags = []string{""}
		}
		of := make([]int32, len(tags))
		for j, tag := range tags {
			of[j] = g.number(known, tag)
		}
		g.of = append(g.of, of)
	}
}

func (g *grouping) number(known map[string]int32, value string) int32 {
	n, ok := known[value]
	if !ok {
		n = int32(len(g.values))
		known[value] = n
		g.values = append(g.values, value)
	}
	return n
}
