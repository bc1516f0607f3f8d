package eventstore_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

var (
	day  = storetest.Start
	next = day.Add(24 * time.Hour)
)

// lastID numbers the events of these tests.
var lastID int64

// event is a click of visitor 1 on link "one" of app "a", at day, changed by
// edit.
func event(edit func(e *clicklog.Event)) clicklog.Event {
	lastID++
	e := clicklog.Event{
		ID: lastID, At: day, Type: clicklog.Click, Visitor: 1,
		Link: clicklog.Link{ID: "one", AppID: "a", Hostname: "go.example.com", Prefix: "l", Slug: "one",
			Group: "main"},
		Device: "ios", OS: "iOS", Browser: "Safari", Source: "browser", Country: "PT", Destination: "web",
	}
	if edit != nil {
		edit(&e)
	}
	return e
}

func TestConformance(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		conformance(t, func(*testing.T) *eventstore.Store { return eventstore.Open(db) })
	})
}

// conformance is what every engine promises. open returns a Store on the same
// events each time.
func conformance(t *testing.T, open func(*testing.T) *eventstore.Store) {
	t.Run("filters", func(t *testing.T) { conformFilters(t, open(t)) })
	t.Run("totals", func(t *testing.T) { conformTotals(t, open(t)) })
	t.Run("repeats", func(t *testing.T) { conformRepeats(t, open(t), open(t)) })
	t.Run("concurrent stores", func(t *testing.T) { conformConcurrent(t, open(t), open(t)) })
	t.Run("odd text", func(t *testing.T) { conformOddText(t, open(t)) })
	t.Run("sweep", func(t *testing.T) { conformSweep(t, open(t)) })
}

func add(t *testing.T, s *eventstore.Store, events ...clicklog.Event) {
	t.Helper()
	if err := s.Append(context.Background(), events); err != nil {
		t.Fatal(err)
	}
}

func summary(t *testing.T, s *eventstore.Store, f eventstore.Filter) eventstore.Totals {
	t.Helper()
	totals, err := s.Summary(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return totals
}

// Each filter chooses its events and no others. Of each pair of events, one
// differs from the base in one thing.
func conformFilters(t *testing.T, s *eventstore.Store) {
	var events []clicklog.Event
	of := func(edit func(e *clicklog.Event)) {
		events = append(events, event(func(e *clicklog.Event) { e.Link.AppID = "filters"; edit(e) }))
	}
	of(func(e *clicklog.Event) {})
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
	of(func(e *clicklog.Event) { e.At = day - 1; e.Country = "AA" })
	of(func(e *clicklog.Event) { e.At = next - 1; e.Country = "BB" })
	of(func(e *clicklog.Event) { e.At = next; e.Country = "CC" })
	add(t, s, append(events, event(func(e *clicklog.Event) { e.Link.AppID = "another" }))...)

	text := func(s string) *string { return &s }
	clicks := func(n int64) eventstore.Totals { return eventstore.Totals{Clicks: n} }
	for _, c := range []struct {
		name   string
		filter eventstore.Filter
		want   eventstore.Totals // Clicks and AppOpens
	}{
		{"none", eventstore.Filter{}, eventstore.Totals{Clicks: 14, AppOpens: 1}},
		{"group", eventstore.Filter{Group: "operational"}, clicks(1)},
		{"link", eventstore.Filter{LinkID: "two"}, clicks(1)},
		{"hostname", eventstore.Filter{Hostname: "other.example.com"}, clicks(1)},
		{"prefix", eventstore.Filter{Prefix: text("l")}, eventstore.Totals{Clicks: 13, AppOpens: 1}},
		{"empty prefix", eventstore.Filter{Prefix: text("")}, clicks(1)},
		{"campaign", eventstore.Filter{CampaignID: "campaign"}, clicks(1)},
		{"folder", eventstore.Filter{FolderID: "folder"}, clicks(1)},
		{"tag", eventstore.Filter{TagID: "tag1"}, clicks(2)},
		{"tag of another case", eventstore.Filter{TagID: "tag2"}, clicks(1)},
		{"tag like a pattern", eventstore.Filter{TagID: "%"}, clicks(0)},
		{"part of a tag", eventstore.Filter{TagID: "tag"}, clicks(0)},
		{"device", eventstore.Filter{Device: "android"}, clicks(1)},
		{"crawlers", eventstore.Filter{Device: "bot"}, clicks(1)},
		{"source of crawlers only", eventstore.Filter{Source: "unknown"}, clicks(0)},
		{"source", eventstore.Filter{Source: "qr"}, clicks(1)},
		{"country", eventstore.Filter{Country: "ZZ"}, clicks(1)},
		{"event type", eventstore.Filter{EventType: "app_open"}, eventstore.Totals{AppOpens: 1}},
		{"unknown event type", eventstore.Filter{EventType: "tap"}, clicks(0)},
		{"two filters", eventstore.Filter{TagID: "tag1", Device: "ios", Country: "PT"}, clicks(2)},
		{"two that exclude each other", eventstore.Filter{TagID: "tag1", Country: "ZZ"}, clicks(0)},
		{"before the start", eventstore.Filter{Country: "AA"}, clicks(0)},
		{"just before the end", eventstore.Filter{Country: "BB"}, clicks(1)},
		{"at the end", eventstore.Filter{Country: "CC"}, clicks(0)},
		{"empty period", eventstore.Filter{Start: day, End: day}, clicks(0)},
		{"one microsecond", eventstore.Filter{Start: next, End: next + 1}, clicks(1)},
		{"app without events", eventstore.Filter{AppID: "nobody"}, clicks(0)},
		{"another app", eventstore.Filter{AppID: "another"}, clicks(1)},
	} {
		f := c.filter
		if f.AppID == "" {
			f.AppID = "filters"
		}
		if f.End == 0 {
			f.Start, f.End = day, next
		}
		got := summary(t, s, f)
		if got.Clicks != c.want.Clicks || got.AppOpens != c.want.AppOpens {
			t.Errorf("%s: %d clicks, %d app opens; want %d, %d", c.name, got.Clicks, got.AppOpens, c.want.Clicks,
				c.want.AppOpens)
		}
	}
}

func conformTotals(t *testing.T, s *eventstore.Store) {
	of := func(edit func(e *clicklog.Event)) clicklog.Event {
		return event(func(e *clicklog.Event) { e.Link.AppID = "totals"; edit(e) })
	}
	add(t, s,
		of(func(e *clicklog.Event) { e.At = day + 5; e.Visitor = -9 }),
		of(func(e *clicklog.Event) { e.At = day + 6; e.Visitor = -9; e.Install = 77 }),
		// The same link after a change, and a second link.
		of(func(e *clicklog.Event) { e.At = day + 7; e.Visitor = 3; e.Link.CampaignID = "c"; e.Install = -5 }),
		of(func(e *clicklog.Event) { e.At = day + 8; e.Visitor = 4; e.Link.ID = "two" }),
		// Not clicks: of other visitors and links, before and after.
		of(func(e *clicklog.Event) { e.Type = clicklog.AppOpen; e.At = day + 1; e.Visitor = 5; e.Link.ID = "three" }),
		of(func(e *clicklog.Event) { e.Type = clicklog.ContentView; e.At = day + 9; e.Install = 5 }),
		of(func(e *clicklog.Event) { e.Type = clicklog.ContentView; e.At = day + 9 }),
		of(func(e *clicklog.Event) { e.Type = clicklog.LegacyContentLoad; e.At = day + 10 }),
		of(func(e *clicklog.Event) { e.Type = clicklog.RecoveryCreated; e.At = day + 11 }),
		of(func(e *clicklog.Event) { e.Type = clicklog.RecoveryMatched; e.At = day + 12 }),
		// A crawler is not in any count.
		of(func(e *clicklog.Event) { e.Device = "bot"; e.At = day; e.Visitor = 6; e.Link.ID = "four" }),
		of(func(e *clicklog.Event) { e.Device = "bot"; e.At = day + 13; e.Install = 1 }),
	)
	at := func(i clock.Instant) *clock.Instant { return &i }
	f := eventstore.Filter{AppID: "totals", Start: day, End: next}
	want := eventstore.Totals{
		Clicks: 4, UniqueVisitors: 3, IdentifiedClicks: 2, AppOpens: 1, ContentViews: 2, LegacyContentLoads: 1,
		ActiveLinks: 2, FirstEventAt: at(day + 1), LastEventAt: at(day + 12),
	}
	if got := summary(t, s, f); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	f.Device = "bot"
	want = eventstore.Totals{Clicks: 2, UniqueVisitors: 2, IdentifiedClicks: 1, ActiveLinks: 2, FirstEventAt: at(day),
		LastEventAt: at(day + 13)}
	if got := summary(t, s, f); !reflect.DeepEqual(got, want) {
		t.Errorf("crawlers: got %+v, want %+v", got, want)
	}
	f = eventstore.Filter{AppID: "totals", Start: day - 10, End: day}
	if got := summary(t, s, f); got != (eventstore.Totals{}) {
		t.Errorf("empty period: got %+v", got)
	}
}

// An event is stored once, however often and in whatever batch it comes.
func conformRepeats(t *testing.T, one, two *eventstore.Store) {
	var events []clicklog.Event
	for i := range 250 {
		events = append(events,
			event(func(e *clicklog.Event) { e.Link.AppID = "repeats"; e.Link.ID = fmt.Sprint(i % 9) }))
	}
	add(t, one, events[:200]...)
	add(t, one, events[:200]...)
	add(t, two, append(events[100:], events[249])...)
	f := eventstore.Filter{AppID: "repeats", Start: day, End: next}
	if got := summary(t, one, f); got.Clicks != 250 || got.ActiveLinks != 9 {
		t.Fatalf("%d clicks on %d links, want 250 on 9", got.Clicks, got.ActiveLinks)
	}
	// The same id at another instant or of another app is another event.
	other := events[0]
	other.At++
	third := events[0]
	third.Link.AppID = "repeats too"
	add(t, two, other, third)
	if got := summary(t, one, f); got.Clicks != 251 {
		t.Fatalf("%d clicks, want 251", got.Clicks)
	}
}

// Two loaders with overlapping events, new links and clients: each thing gets
// one number, each event one row.
func conformConcurrent(t *testing.T, one, two *eventstore.Store) {
	const batches, size = 12, 60
	var all []clicklog.Event
	for i := range batches * size {
		all = append(all, event(func(e *clicklog.Event) {
			e.Link.AppID = fmt.Sprintf("concurrent %d", i%3)
			e.Link.ID = fmt.Sprint(i / 2)
			e.Browser = fmt.Sprint(i / 5)
			e.ReferrerHost = fmt.Sprint(i / 3)
		}))
	}
	var wg sync.WaitGroup
	for _, s := range []*eventstore.Store{one, two} {
		wg.Go(func() {
			for i := range batches {
				if err := s.Append(context.Background(), all[i*size:(i+1)*size]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 3 {
		f := eventstore.Filter{AppID: fmt.Sprintf("concurrent %d", i), Start: day, End: next}
		if got := summary(t, one, f); got.Clicks != batches*size/3 {
			t.Errorf("app %d: %d clicks, want %d", i, got.Clicks, batches*size/3)
		}
	}
	f := eventstore.Filter{AppID: "concurrent 1", LinkID: "3", Start: day, End: next}
	if got := summary(t, two, f); got.Clicks != 1 || got.ActiveLinks != 1 {
		t.Errorf("one link: %+v", got)
	}
}

// Whatever a visitor sends is stored in some form: a refused row would stop
// the loader for good.
func conformOddText(t *testing.T, s *eventstore.Store) {
	for _, text := range []string{"\x00", "a\x00b", "\xff\xfe", strings.Repeat("é", 30_000), "'; --", "?", "😀",
		"\u0000,"} {
		for range 2 {
			add(t, s, event(func(e *clicklog.Event) {
				e.Link.AppID = "odd"
				e.Link.Slug, e.Link.TagIDs = text, []string{text}
				e.OS, e.Browser, e.ReferrerHost, e.RuleID, e.Country = text, text, text, text, text
				e.Type, e.Destination = clicklog.EventType(text), text
			}))
			add(t, s, event(func(e *clicklog.Event) { e.Link.AppID = "odd"; e.Link.Slug, e.ReferrerHost = text, text }))
		}
	}
	f := eventstore.Filter{AppID: "odd", Start: day, End: next, Country: "PT"}
	if got := summary(t, s, f); got.Clicks != 16 {
		t.Fatalf("%d clicks, want 16", got.Clicks)
	}
}

func conformSweep(t *testing.T, s *eventstore.Store) {
	ctx := context.Background()
	old := day.Add(-1000 * time.Hour)
	for i := range 30 {
		add(t, s, event(func(e *clicklog.Event) {
			e.Link.AppID = []string{"sweep", "swept"}[i%2]
			e.At = old + clock.Instant(i/4)
		}))
	}
	// 7 instants of 4 events and one of 2; those before the last instant go.
	before := old + 7
	var deleted []int64
	for {
		n, err := s.Sweep(ctx, before, 10)
		if err != nil {
			t.Fatal(err)
		}
		deleted = append(deleted, n)
		if n < 10 {
			break
		}
	}
	if !reflect.DeepEqual(deleted, []int64{10, 10, 8}) {
		t.Errorf("deleted %v, want 10, 10, 8", deleted)
	}
	for _, app := range []string{"sweep", "swept"} {
		got := summary(t, s, eventstore.Filter{AppID: app, Start: 0, End: next})
		if got.Clicks != 1 || *got.FirstEventAt != before {
			t.Errorf("%s: %d clicks left from %v; want 1 from %v", app, got.Clicks, got.FirstEventAt, before)
		}
	}
}

// The last line of the migration is for SQLite only; if it stopped working,
// events would take twice the space.
func TestEventsLieInTheirKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		if db.Dialect().Name != "sqlite" {
			return
		}
		found, err := store.Exists(context.Background(), db, "SELECT 1 FROM pragma_table_list('event') WHERE wr = 1")
		if err != nil || !found {
			t.Fatalf("event is WITHOUT ROWID: %v, %v", found, err)
		}
	})
}
