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
	// value tells the group of a link state, but for tags.
	value func(l *clicklog.Link) string
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

func newGrouping(by eventstore.Dimension) (*grouping, error) {
	if column, ok := textColumns[by]; ok {
		return &grouping{column: column}, nil
	}
	value, ok := linkValues[by]
	switch {
	case by == eventstore.None, by == eventstore.Time:
		return &grouping{column: segment.At}, nil
	case by == eventstore.ByTag, ok:
		return &grouping{segment.Link, value}, nil
	}
	return nil, fmt.Errorf("no dimension %q", by)
}
