package enginetest

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Dimensions are all that Count groups by.
var Dimensions = []eventstore.Dimension{
	eventstore.None, eventstore.Time, eventstore.ByCountry, eventstore.ByDevice, eventstore.BySource, eventstore.ByOS,
	eventstore.ByBrowser, eventstore.ByReferrer, eventstore.ByLink, eventstore.ByDomain, eventstore.ByPrefix,
	eventstore.ByCampaign, eventstore.ByFolder, eventstore.ByTag, eventstore.ByGroup, eventstore.ByType,
}

// conditions are those that Filter can have on events, each with values that some, or
// none, of the events of Traffic meet.
var conditions = []func(t *Traffic, f *eventstore.Filter){
	func(t *Traffic, f *eventstore.Filter) { f.Group = t.pick("main", "operational", "none") },
	func(t *Traffic, f *eventstore.Filter) { f.LinkID = t.Link().ID },
	func(t *Traffic, f *eventstore.Filter) {
		f.Hostname = t.pick("go.example.com", "other.example.com", "none")
	},
	func(t *Traffic, f *eventstore.Filter) {
		f.CampaignID = t.pick("campaign1", "Campaign1", "campaign10", "campaign")
	},
	func(t *Traffic, f *eventstore.Filter) { f.FolderID = t.pick("folder1", "folder2", "folder") },
	func(t *Traffic, f *eventstore.Filter) { f.TagID = t.pick("tag1", "tag2", "tag10", "TAG1", "tag", "%") },
	func(t *Traffic, f *eventstore.Filter) { prefix := t.pick("", "l", "é", "L"); f.Prefix = &prefix },
	func(t *Traffic, f *eventstore.Filter) { f.Device = t.pick("ios", "android", "bot", "none") },
	func(t *Traffic, f *eventstore.Filter) { f.Source = t.pick("browser", "social", "none") },
	func(t *Traffic, f *eventstore.Filter) { f.Country = t.pick("PT", "ZZ", "AA") },
	func(t *Traffic, f *eventstore.Filter) {
		f.EventType = t.pick("click", "app_open", "recovery_created", "tap")
	},
}

// Filter returns a random filter: with no condition, one, or several.
func (t *Traffic) Filter() eventstore.Filter {
	f := eventstore.Filter{AppID: t.App, Start: t.Day, End: t.Day + clock.Instant(t.Days)*day}
	if t.IntN(2) == 0 {
		f.Start, f.End = t.Instant(), t.Instant()
		f.Start, f.End = min(f.Start, f.End), max(f.Start, f.End)
	}
	for range []int{0, 1, 1, 2, 3}[t.IntN(5)] {
		conditions[t.IntN(len(conditions))](t, &f)
	}
	return f
}

// Query returns a random query by a dimension. Its After is within the order that the
// answer has without it.
func (t *Traffic) Query(by eventstore.Dimension) eventstore.Query {
	f := t.Filter()
	return eventstore.Query{Filter: f, Grouping: t.grouping(by, &f)}
}

// grouping returns a random grouping by a dimension of what a filter chooses.
func (t *Traffic) grouping(by eventstore.Dimension, f *eventstore.Filter) eventstore.Grouping {
	g := eventstore.Grouping{By: by, Visitors: t.IntN(2) == 0, Links: t.IntN(2) == 0, Installs: t.IntN(2) == 0}
	if by == eventstore.None {
		return g
	}
	g.Clicked = t.IntN(2) == 0
	if t.IntN(3) == 0 {
		g.Limit = 1 + t.IntN(6)
	}
	if by == eventstore.Time {
		g.Bounds = t.bounds(f)
	} else if t.IntN(3) == 0 {
		g.After = &eventstore.Rank{Clicks: t.Int64N(20), Value: t.pick("", "PT", "ios", "tag1", t.Link().ID)}
	}
	return g
}

// bounds returns bounds around a filter's period.
func (t *Traffic) bounds(f *eventstore.Filter) []clock.Instant {
	bounds := []clock.Instant{f.Start, max(f.End, f.Start+1)}
	for range t.IntN(40) {
		bounds = append(bounds, t.Instant(), t.Instant()+1)
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}
