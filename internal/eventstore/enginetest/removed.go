package enginetest

import (
	"reflect"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// everything reads all events of an engine in pages of a size.
func everything(t *testing.T, e eventstore.Engine, size int) (events []clicklog.Event) {
	t.Helper()
	var app string
	var after *eventstore.Place
	for {
		page, err := e.Read(t.Context(), app, after, size)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return events
		}
		if len(page) > size {
			t.Fatalf("%d events in a page of %d", len(page), size)
		}
		last := page[len(page)-1]
		app, after = last.Link.AppID, &eventstore.Place{At: last.At, ID: last.ID}
		events = append(events, page...)
	}
}

// Everything that was appended can be read, and appended elsewhere.
func (s *suite) read(t *testing.T) {
	e := s.open(t)
	want := everything(t, s.ref, 1_000_000)
	for _, size := range []int{977, 100_000} {
		got := everything(t, e, size)
		if len(got) != len(want) {
			t.Fatalf("%d events in pages of %d, want %d", len(got), size, len(want))
		}
		for i := range got {
			got[i].Link = untagged(got[i].Link)
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("event %d of pages of %d:\n got %+v\nwant %+v", i, size, got[i], want[i])
			}
		}
		elsewhere := NewReference(&clock.Clock{})
		if err := elsewhere.Append(t.Context(), Batch(got...)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(everything(t, elsewhere, 1_000_000), want) {
			t.Fatal("a copy differs")
		}
	}
}

// Erased events are in no answer any more, those of other links and installs are.
func (s *suite) erase(t *testing.T) {
	e := s.open(t)
	events := []clicklog.Event{}
	for i := range 300 {
		events = append(events, s.click([]string{"erase", "erase too"}[i%2], func(e *clicklog.Event) {
			e.At += clock.Instant(i%3) * day
			e.Visitor = int64(i % 3)
			e.Link.ID = []string{"erased", "kept", "erased too"}[i%3]
			e.Link.Slug = []string{"a", "b"}[i/150]
			e.Install = []int64{0, 4711, -4711, 5}[i%4]
		}))
	}
	l := NewLog()
	l.Write(events...)
	s.append(t, e, l.Batch(0, 300))
	for _, x := range []eventstore.Erasure{
		{LinkID: "none"}, {Install: 42}, {}, {LinkID: "erased"}, {Install: -4711}, {LinkID: "erased"},
		{LinkID: "erased too"}, {Install: 77},
	} {
		n, gone, err := e.Erase(t.Context(), x)
		want, _, _ := s.ref.Erase(t.Context(), x)
		if err != nil || n != want || want > 0 && gone == 0 {
			t.Fatalf("erase %+v: %d until %s, %v; want %d", x, n, gone, err, want)
		}
		for _, app := range []string{"erase", "erase too", "large"} {
			for _, e := range []eventstore.Engine{e, s.open(t)} {
				s.total(t, e, all(app))
				s.count(t, e, eventstore.Query{Filter: all(app),
					Grouping: eventstore.Grouping{By: eventstore.ByLink, Visitors: true, Installs: true}})
				s.pages(t, e, all(app), 10_000)
				links, err := e.Links(t.Context(), app, []string{"erased", "kept", "erased too"})
				want, _ := s.ref.Links(t.Context(), app, []string{"erased", "kept", "erased too"})
				for id, link := range want { // those without events may be there as well
					if err != nil || !reflect.DeepEqual(untagged(links[id]), link) {
						t.Fatalf("link %s after %+v: %+v, %v; want %+v", id, x, links[id], err, link)
					}
				}
			}
		}
	}
	// What comes again from the log is not there again, unless the engine tells events
	// by their ids; what is new is.
	s.append(t, e, Batch(s.click("erase", func(e *clicklog.Event) { // of the day of its visitor
		e.Link.ID, e.At = "erased", e.At+day
	})))
	s.total(t, e, all("erase"))
}

// Sweep deletes what is older than an instant, in steps of about a size.
func (s *suite) sweep(t *testing.T) {
	e := s.open(t)
	old := Start - 1000*day/24
	for i := range 30 {
		s.append(t, e, Batch(s.click([]string{"sweep", "swept"}[i%2], func(e *clicklog.Event) {
			e.At = old + clock.Instant(i/4)
		})))
	}
	// 7 instants of 4 events and one of 2; those before the last instant go.
	before, deleted := old+7, int64(0)
	for steps := 0; ; steps++ {
		n, err := e.Sweep(t.Context(), before, 10)
		if err != nil {
			t.Fatal(err)
		}
		if deleted += n; n < 10 {
			break
		}
		if steps > 28 {
			t.Fatal("Sweep does not end")
		}
	}
	if want, err := s.ref.Sweep(t.Context(), before, 1000); deleted != want || want != 28 || err != nil {
		t.Errorf("%d deleted, want %d", deleted, want)
	}
	for _, app := range []string{"sweep", "swept"} {
		if got := s.total(t, e, all(app)); got.Clicks != 1 || got.First != before {
			t.Errorf("%s: %d clicks left from %v; want 1 from %v", app, got.Clicks, got.First, before)
		}
	}
	if got, want := everything(t, e, 10_000), everything(t, s.ref, 1_000_000); len(got) != len(want) {
		t.Errorf("%d events left, want %d", len(got), len(want))
	}
	s.total(t, s.open(t), all("large"))
}
