package scan

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// kind is what Count tells events apart by.
type kind uint8

const (
	other kind = iota
	click
	identified // a click with a known install
	appOpen
	contentView
	legacyLoad
	recoveryCreated
	recoveryMatched
	kinds
)

// kindOf returns the kind of an event.
func kindOf(t string, known bool) kind {
	switch clicklog.EventType(t) {
	case clicklog.Click:
		if known {
			return identified
		}
		return click
	case clicklog.AppOpen:
		return appOpen
	case clicklog.ContentView:
		return contentView
	case clicklog.LegacyContentLoad:
		return legacyLoad
	case clicklog.RecoveryCreated:
		return recoveryCreated
	case clicklog.RecoveryMatched:
		return recoveryMatched
	}
	return other
}

// count counts events of one kind.
type count struct {
	n           int64
	first, last clock.Instant
}

func (c *count) add(d count) {
	if d.n == 0 {
		return
	}
	if c.n == 0 || d.first < c.first {
		c.first = d.first
	}
	if c.n == 0 || d.last > c.last {
		c.last = d.last
	}
	c.n += d.n
}

// sum is what is known of a group.
type sum struct {
	value                     string
	counts                    [kinds]count
	visitors, links, installs int64
}

// total adds up what the eras have. It is safe for concurrent use.
type total struct {
	mu      sync.Mutex
	sums    []sum
	byValue map[string]int32
	// of has the group of each link state, plus one, 0 before it is met; tagged likewise
	// its groups by tags.
	of     []atomic.Int32
	tagged []atomic.Pointer[[]int32]
	// links and installs are the pairs of a group with a link, by States.ids, and with an
	// install, by known.
	links, installs pairs
	known           *numbering
}

// newTotal returns a total without any event. Groups of values come when they are met.
func newTotal(by *eventstore.Grouping, g *grouping, states *States) *total {
	t := &total{byValue: map[string]int32{}, known: newNumbering()}
	switch {
	case by.By == eventstore.None:
		t.sums = make([]sum, 1)
	case by.By == eventstore.Time:
		t.sums = make([]sum, max(0, len(by.Bounds)-1))
	case by.By == eventstore.ByTag:
		t.tagged = make([]atomic.Pointer[[]int32], len(states.links))
	case g.column == segment.Link:
		t.of = make([]atomic.Int32, len(states.links))
	}
	return t
}

// group returns the group of a value.
func (t *total) group(value string) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.byValue[value]
	if !ok {
		n = int32(len(t.sums))
		t.byValue[value] = n
		t.sums = append(t.sums, sum{value: value})
	}
	return n
}

// groupOf returns the group of the state of a link at a place.
func (t *total) groupOf(g *grouping, states *States, place int32) int32 {
	n := t.of[place].Load()
	if n == 0 {
		n = t.group(g.value(&states.links[place])) + 1
		t.of[place].Store(n)
	}
	return n - 1
}

// untagged are the tags of a link without any.
var untagged = []string{""}

// groupsOf returns the groups by tags of the state of a link at a place.
func (t *total) groupsOf(states *States, place int32) []int32 {
	if of := t.tagged[place].Load(); of != nil {
		return *of
	}
	tags := states.links[place].TagIDs
	if len(tags) == 0 {
		tags = untagged
	}
	of := make([]int32, len(tags))
	for i, tag := range tags {
		of[i] = t.group(tag)
	}
	t.tagged[place].Store(&of)
	return of
}

// rows returns the answer.
func (t *total) rows(by *eventstore.Grouping) []eventstore.Row {
	rows := []eventstore.Row{}
	for i := range t.sums {
		r := t.sums[i].row()
		switch {
		case by.By == eventstore.None:
		case r.Events == 0 || by.Clicked && r.Clicks == 0:
			continue
		case by.By == eventstore.Time:
			r.Period = i
		case by.After != nil && order(by.After.Clicks, by.After.Value, r.Clicks, r.Value) >= 0:
			continue
		}
		rows = append(rows, r)
	}
	if by.By != eventstore.Time {
		slices.SortFunc(rows, func(a, b eventstore.Row) int { return order(a.Clicks, a.Value, b.Clicks, b.Value) })
	}
	if by.Limit > 0 && len(rows) > by.Limit {
		rows = slices.Clip(rows[:by.Limit])
	}
	return rows
}

// order compares groups: those with most clicks come first.
func order(clicksA int64, a string, clicksB int64, b string) int {
	return cmp.Or(cmp.Compare(clicksB, clicksA), strings.Compare(a, b))
}

func (s *sum) row() eventstore.Row {
	var all, clicks count
	for k := range s.counts {
		all.add(s.counts[k])
	}
	clicks.add(s.counts[click])
	clicks.add(s.counts[identified])
	return eventstore.Row{
		Value:  s.value,
		Events: all.n, Clicks: clicks.n, IdentifiedClicks: s.counts[identified].n,
		AppOpens: s.counts[appOpen].n, ContentViews: s.counts[contentView].n,
		LegacyContentLoads: s.counts[legacyLoad].n,
		RecoveriesCreated:  s.counts[recoveryCreated].n, RecoveriesMatched: s.counts[recoveryMatched].n,
		UniqueVisitors: s.visitors, ActiveLinks: s.links, UniqueInstalls: s.installs,
		First: all.first, Last: all.last, LastClick: clicks.last,
	}
}

// add adds what an era has of the group, but for links and installs.
func (s *sum) add(d *sum) {
	for k := range s.counts {
		s.counts[k].add(d.counts[k])
	}
	s.visitors += d.visitors
}
