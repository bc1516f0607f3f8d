package enginetest

import (
	"fmt"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Each filter chooses its events and no others. Of each pair of events, one differs
// from the base in one thing.
func (s *suite) filters(t *testing.T) {
	e := s.open(t)
	next := Start + day
	var events []clicklog.Event
	of := func(edit func(e *clicklog.Event)) { events = append(events, s.click("filters", edit)) }
	of(nil)
	of(func(e *clicklog.Event) { e.Link.Group = "operational" })
	of(func(e *clicklog.Event) { e.Link.ID = "two" })
	of(func(e *clicklog.Event) { e.Link.Hostname = "other.example.com" })
	of(func(e *clicklog.Event) { e.Link.Prefix = "" })
	of(func(e *clicklog.Event) { e.Link.CampaignID = "campaign" })
	of(func(e *clicklog.Event) { e.Link.FolderID = "folder" })
	of(func(e *clicklog.Event) { e.Link.TagIDs = []string{"tag1"} })
	of(func(e *clicklog.Event) { e.Link.TagIDs = []string{"tag2", "tag1"} })
	of(func(e *clicklog.Event) { e.Link.TagIDs = []string{"tag10", "TAG2", "t%"} })
	of(func(e *clicklog.Event) { e.Device = "android" })
	of(func(e *clicklog.Event) { e.Device = "bot"; e.Source = "unknown" })
	of(func(e *clicklog.Event) { e.Source = "qr" })
	of(func(e *clicklog.Event) { e.Country = "ZZ" })
	of(func(e *clicklog.Event) { e.Type = clicklog.AppOpen; e.Source = "app" })
	of(func(e *clicklog.Event) { e.At = Start - 1; e.Country = "AA" })
	of(func(e *clicklog.Event) { e.At = next - 1; e.Visitor = 2; e.Country = "BB" })
	of(func(e *clicklog.Event) { e.At = next; e.Visitor = 2; e.Country = "CC" })
	s.append(t, e, Batch(append(events, s.click("another", nil))...))

	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name             string
		filter           eventstore.Filter
		clicks, appOpens int64
	}{
		{"none", eventstore.Filter{}, 14, 1},
		{"group", eventstore.Filter{Group: "operational"}, 1, 0},
		{"link", eventstore.Filter{LinkID: "two"}, 1, 0},
		{"hostname", eventstore.Filter{Hostname: "other.example.com"}, 1, 0},
		{"prefix", eventstore.Filter{Prefix: text("l")}, 13, 1},
		{"empty prefix", eventstore.Filter{Prefix: text("")}, 1, 0},
		{"campaign", eventstore.Filter{CampaignID: "campaign"}, 1, 0},
		{"folder", eventstore.Filter{FolderID: "folder"}, 1, 0},
		{"tag", eventstore.Filter{TagID: "tag1"}, 2, 0},
		{"tag of another case", eventstore.Filter{TagID: "tag2"}, 1, 0},
		{"tag like a pattern", eventstore.Filter{TagID: "%"}, 0, 0},
		{"part of a tag", eventstore.Filter{TagID: "tag"}, 0, 0},
		{"device", eventstore.Filter{Device: "android"}, 1, 0},
		{"crawlers", eventstore.Filter{Device: "bot"}, 1, 0},
		{"source of crawlers only", eventstore.Filter{Source: "unknown"}, 0, 0},
		{"source", eventstore.Filter{Source: "qr"}, 1, 0},
		{"country", eventstore.Filter{Country: "ZZ"}, 1, 0},
		{"event type", eventstore.Filter{EventType: "app_open"}, 0, 1},
		{"unknown event type", eventstore.Filter{EventType: "tap"}, 0, 0},
		{"two filters", eventstore.Filter{TagID: "tag1", Device: "ios", Country: "PT"}, 2, 0},
		{"two that exclude each other", eventstore.Filter{TagID: "tag1", Country: "ZZ"}, 0, 0},
		{"before the start", eventstore.Filter{Country: "AA"}, 0, 0},
		{"just before the end", eventstore.Filter{Country: "BB"}, 1, 0},
		{"at the end", eventstore.Filter{Country: "CC"}, 0, 0},
		{"empty period", eventstore.Filter{Start: Start, End: Start}, 0, 0},
		{"one microsecond", eventstore.Filter{Start: next, End: next + 1}, 1, 0},
		{"app without events", eventstore.Filter{AppID: "nobody"}, 0, 0},
		{"another app", eventstore.Filter{AppID: "another"}, 1, 0},
	} {
		f := c.filter
		if f.AppID == "" {
			f.AppID = "filters"
		}
		if f.End == 0 {
			f.Start, f.End = Start, next
		}
		if got := s.total(t, e, f); got.Clicks != c.clicks || got.AppOpens != c.appOpens {
			t.Errorf("%s: %d clicks, %d app opens; want %d, %d", c.name, got.Clicks, got.AppOpens, c.clicks, c.appOpens)
		}
	}
}

// All that is counted, by hand.
func (s *suite) totals(t *testing.T) {
	e := s.open(t)
	var events []clicklog.Event
	of := func(edit func(e *clicklog.Event)) { events = append(events, s.click("totals", edit)) }
	of(func(e *clicklog.Event) { e.At = Start + 5; e.Visitor = -9 })
	of(func(e *clicklog.Event) { e.At = Start + 6; e.Visitor = -9; e.Install = 77 })
	// The same link after a change, and a second link.
	of(func(e *clicklog.Event) { e.At = Start + 7; e.Visitor = 3; e.Link.CampaignID = "c"; e.Install = -5 })
	of(func(e *clicklog.Event) { e.At = Start + 8; e.Visitor = 4; e.Link.ID = "two" })
	// Not clicks: of other visitors and links, before and after.
	of(func(e *clicklog.Event) {
		e.Type = clicklog.AppOpen
		e.At = Start + 1
		e.Visitor = 5
		e.Link.ID = "three"
	})
	of(func(e *clicklog.Event) { e.Type = clicklog.ContentView; e.At = Start + 9; e.Install = 5 })
	of(func(e *clicklog.Event) { e.Type = clicklog.ContentView; e.At = Start + 9 })
	of(func(e *clicklog.Event) { e.Type = clicklog.LegacyContentLoad; e.At = Start + 10; e.Install = 5 })
	of(func(e *clicklog.Event) { e.Type = clicklog.RecoveryCreated; e.At = Start + 11; e.Install = 6 })
	of(func(e *clicklog.Event) { e.Type = clicklog.RecoveryMatched; e.At = Start + 12 })
	// A crawler is in no count.
	of(func(e *clicklog.Event) { e.Device = "bot"; e.At = Start; e.Visitor = 6; e.Link.ID = "four" })
	of(func(e *clicklog.Event) { e.Device = "bot"; e.At = Start + 13; e.Install = 1 })
	s.append(t, e, Batch(events...))

	f := all("totals")
	want := eventstore.Row{
		Events: 10, Clicks: 4, AppOpens: 1, ContentViews: 2, LegacyContentLoads: 1, RecoveriesCreated: 1,
		RecoveriesMatched: 1, IdentifiedClicks: 2, UniqueVisitors: 3, ActiveLinks: 2, UniqueInstalls: 1,
		First: Start + 1, Last: Start + 12, LastClick: Start + 8,
	}
	if got := s.total(t, e, f); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	f.Device = "bot"
	want = eventstore.Row{Events: 2, Clicks: 2, IdentifiedClicks: 1, UniqueVisitors: 2, ActiveLinks: 2, First: Start,
		Last: Start + 13, LastClick: Start + 13}
	if got := s.total(t, e, f); got != want {
		t.Errorf("crawlers: got %+v, want %+v", got, want)
	}
	f = eventstore.Filter{AppID: "totals", Start: Start - 10, End: Start}
	if got := s.total(t, e, f); got != (eventstore.Row{}) {
		t.Errorf("empty period: got %+v", got)
	}
}

// A group has its value, and groups have their order, by hand.
func (s *suite) dimensions(t *testing.T) {
	e := s.open(t)
	for i, campaign := range []string{"b", "a", "", "b", "B", "é", "a", "z"} {
		s.append(t, e, Batch(s.click("dimensions", func(e *clicklog.Event) {
			e.At += clock.Instant(i)
			e.Link.ID, e.Link.CampaignID = fmt.Sprint(i%3), campaign
			e.Link.TagIDs = [][]string{{"t1"}, {"t1", "t2"}, nil}[i%3]
			if campaign == "z" {
				e.Type = clicklog.AppOpen
			}
		})))
	}
	for _, c := range []struct {
		tag  string
		by   eventstore.Grouping
		want string
	}{
		{"", eventstore.Grouping{By: eventstore.ByCampaign}, "[a 2 b 2  1 B 1 é 1 z 0]"},
		{"", eventstore.Grouping{By: eventstore.ByCampaign, Clicked: true}, "[a 2 b 2  1 B 1 é 1]"},
		{"", eventstore.Grouping{By: eventstore.ByCampaign, Limit: 2}, "[a 2 b 2]"},
		{"", eventstore.Grouping{By: eventstore.ByCampaign, After: &eventstore.Rank{Clicks: 2, Value: "b"}, Limit: 2},
			"[ 1 B 1]"},
		{"", eventstore.Grouping{By: eventstore.ByCampaign, After: &eventstore.Rank{Clicks: 1, Value: "B"}}, "[é 1 z 0]"},
		{"", eventstore.Grouping{By: eventstore.ByTag}, "[t1 5  2 t2 2]"},
		{"t2", eventstore.Grouping{By: eventstore.ByTag}, "[t1 2 t2 2]"},
		{"", eventstore.Grouping{By: eventstore.ByLink}, "[0 3 1 2 2 2]"},
		{"", eventstore.Grouping{By: eventstore.ByType}, "[click 7 app_open 0]"},
		{"none", eventstore.Grouping{By: eventstore.ByOS}, "[]"},
	} {
		f := eventstore.Filter{AppID: "dimensions", Start: Start, End: Start + day, TagID: c.tag}
		got := []any{}
		for _, r := range s.count(t, e, eventstore.Query{Filter: f, Grouping: c.by}) {
			got = append(got, r.Value, r.Clicks)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v by %+v: %v, want %s", f, c.by, got, c.want)
		}
	}
}
