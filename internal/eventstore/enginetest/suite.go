package enginetest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Start is when most events of the suite happen, as late as storetest.Start. The
// earliest are 42 days before it and the last ones 9 days after it.
var Start = clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

// suite holds one engine against the reference.
type suite struct {
	open func(*testing.T) eventstore.Engine
	ref  *Reference
	// lastID numbers the events of click.
	lastID int64
}

// Run runs the suite. open returns an engine that has no events at first, and each
// later time another one on the same events, as another process has it. An engine that
// keeps events in different ways is run once in each way: open may wrap it in
// something that moves the events now and then.
func Run(t *testing.T, open func(*testing.T) eventstore.Engine) {
	s := run(t, open)
	t.Run("concurrent repeats", s.concurrentRepeats)
}

// RunWithoutTransactions is Run for an engine that relies on a log having one loader at a
// time: what comes again is recognised only once the first Append has ended.
func RunWithoutTransactions(t *testing.T, open func(*testing.T) eventstore.Engine) { run(t, open) }

func run(t *testing.T, open func(*testing.T) eventstore.Engine) *suite {
	s := &suite{open: open, ref: NewReference(&clock.Clock{})}
	t.Run("empty", s.empty)
	t.Run("filters", s.filters)
	t.Run("totals", s.totals)
	t.Run("dimensions", s.dimensions)
	t.Run("repeats", s.repeats)
	t.Run("logs", s.logs)
	t.Run("concurrent stores", s.concurrent)
	t.Run("odd text", s.oddText)
	t.Run("cancelled", s.cancelled)
	t.Run("list", s.list)
	t.Run("links", s.links)
	t.Run("random", s.random)
	t.Run("many", s.many)
	t.Run("read", s.read)
	t.Run("erase", s.erase)
	t.Run("sweep", s.sweep)
	return s
}

// click is a click of visitor 1 on link "one" of an app, at Start, changed by edit.
func (s *suite) click(app string, edit func(e *clicklog.Event)) clicklog.Event {
	s.lastID++
	e := clicklog.Event{
		ID: s.lastID, At: Start, Type: clicklog.Click, Visitor: 1,
		Link: clicklog.Link{ID: "one", AppID: app, Hostname: "go.example.com", Prefix: "l", Slug: "one",
			Group: "main"},
		Device: "ios", OS: "iOS", Browser: "Safari", Source: "browser", Country: "PT", Destination: "web",
	}
	if edit != nil {
		edit(&e)
	}
	return e
}

// append adds a batch to an engine and to the reference.
func (s *suite) append(t *testing.T, e eventstore.Engine, b *clicklog.Batch) {
	t.Helper()
	if err := e.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.ref.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// count compares an answer of an engine with the reference, and returns it.
func (s *suite) count(t *testing.T, e eventstore.Engine, q eventstore.Query) []eventstore.Row {
	t.Helper()
	got, err := eventstore.Count(t.Context(), e, q)
	want, _ := eventstore.Count(t.Context(), s.ref, q)
	if err != nil {
		t.Fatalf("count %+v: %v", q, err)
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("count %+v:\n got %+v\nwant %+v", q, got, want)
	}
	return want
}

// total returns the one group of all events that a filter chooses, with everything
// that can be counted; it is compared with the reference.
func (s *suite) total(t *testing.T, e eventstore.Engine, f eventstore.Filter) eventstore.Row {
	t.Helper()
	rows := s.count(t, e, eventstore.Query{Filter: f,
		Grouping: eventstore.Grouping{Visitors: true, Links: true, Installs: true}})
	return rows[0]
}

// all chooses everything that the suite appended to an app.
func all(app string) eventstore.Filter {
	return eventstore.Filter{AppID: app, Start: Start - 50*day, End: Start + 50*day}
}

// Nothing is there at first, and of apps without events.
func (s *suite) empty(t *testing.T) {
	e := s.open(t)
	for _, by := range Dimensions {
		q := eventstore.Query{Filter: all("empty"),
			Grouping: eventstore.Grouping{By: by, Bounds: []clock.Instant{Start - 50*day, Start + 50*day}}}
		q.Visitors, q.Links, q.Installs = true, true, true
		rows := s.count(t, e, q)
		if by == eventstore.None && len(rows) != 1 {
			t.Errorf("%d groups of no events, want 1", len(rows))
		}
	}
	listed, err := e.List(t.Context(), all("empty"), nil, 10)
	if err != nil || len(listed) != 0 {
		t.Errorf("list: %v, %v", listed, err)
	}
	links, err := e.Links(t.Context(), "empty", []string{"one"})
	if err != nil || len(links) != 0 {
		t.Errorf("links: %v, %v", links, err)
	}
	if links, err = e.Links(t.Context(), "empty", nil); err != nil || len(links) != 0 {
		t.Errorf("no links: %v, %v", links, err)
	}
	events, err := e.Read(t.Context(), "", nil, 10)
	if err != nil || len(events) != 0 {
		t.Errorf("read: %v, %v", events, err)
	}
	if n, err := e.Sweep(t.Context(), Start, 10); n != 0 || err != nil {
		t.Errorf("sweep: %d, %v", n, err)
	}
	if n, _, err := e.Erase(t.Context(), eventstore.Erasure{LinkID: "one"}); n != 0 || err != nil {
		t.Errorf("erase: %d, %v", n, err)
	}
	if err := e.Append(t.Context(), &clicklog.Batch{}); err != nil {
		t.Errorf("append nothing: %v", err)
	}
}

// Whoever does not wait any more gets an error, and an Append that fails leaves
// nothing.
func (s *suite) cancelled(t *testing.T) {
	e := s.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := Batch(s.click("cancelled", nil), s.click("cancelled", nil))
	if err := e.Append(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if _, err := eventstore.Count(ctx, e, eventstore.Query{Filter: all("cancelled")}); !errors.Is(err, context.Canceled) {
		t.Errorf("count: %v", err)
	}
	if _, err := e.List(ctx, all("cancelled"), nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	s.total(t, e, all("cancelled"))
	s.append(t, e, b)
	if got := s.total(t, e, all("cancelled")); got.Clicks != 2 {
		t.Errorf("%d clicks, want 2", got.Clicks)
	}
}
