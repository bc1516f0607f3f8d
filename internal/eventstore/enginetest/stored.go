package enginetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// An event is stored once, however often its log hands it out and to whom.
func (s *suite) repeats(t *testing.T) {
	one, two := s.open(t), s.open(t)
	l := NewLog()
	for i := range 400 {
		l.Write(s.click("repeats", func(e *clicklog.Event) { e.Link.ID = fmt.Sprint(i % 9) }))
	}
	for _, b := range []struct {
		e        eventstore.Engine
		from, to int
		want     int64
	}{
		{one, 0, 200, 200}, {one, 0, 200, 200}, {two, 0, 200, 200}, {two, 100, 250, 250}, {one, 0, 150, 250},
		{one, 250, 251, 251}, {one, 251, 251, 251}, {two, 0, 400, 400}, {one, 399, 400, 400},
	} {
		s.append(t, b.e, l.Batch(b.from, b.to))
		for _, e := range []eventstore.Engine{one, two} {
			if got := s.total(t, e, all("repeats")); got.Clicks != b.want {
				t.Fatalf("%d clicks after %d to %d, want %d", got.Clicks, b.from, b.to, b.want)
			}
		}
	}
	// An engine that is opened later knows it as well.
	three := s.open(t)
	s.append(t, three, l.Batch(0, 400))
	if got := s.total(t, three, all("repeats")); got.Clicks != 400 || got.ActiveLinks != 9 {
		t.Fatalf("%d clicks on %d links, want 400 on 9", got.Clicks, got.ActiveLinks)
	}
	// The same id at another instant or of another app is another event.
	other, third := l.Batch(0, 1).Events[0], l.Batch(0, 1).Events[0]
	other.At++
	third.Link.AppID = "repeats too"
	s.append(t, two, Batch(other, third))
	for app, want := range map[string]int64{"repeats": 401, "repeats too": 1} {
		if got := s.total(t, one, all(app)); got.Clicks != want {
			t.Fatalf("%s: %d clicks, want %d", app, got.Clicks, want)
		}
	}
}

// Batches of several logs, of which some come again and others go on.
func (s *suite) logs(t *testing.T) {
	e := s.open(t)
	logs := []*Log{NewLog(), NewLog(), NewLog()}
	for i := range 900 {
		logs[i%3].Write(s.click("logs", func(e *clicklog.Event) { e.At -= clock.Instant(i) }))
	}
	a, b, c := logs[0], logs[1], logs[2]
	for i, batch := range []*clicklog.Batch{
		a.Batch(0, 100),
		Join(a.Batch(50, 200), b.Batch(0, 10)),
		Join(b.Batch(0, 300), c.Batch(0, 140), c.Batch(140, 160)),
		Join(c.Batch(0, 300), a.Batch(0, 200), b.Batch(299, 300)),
		a.Batch(200, 300),
	} {
		s.append(t, e, batch)
		want := []int64{100, 210, 660, 800, 900}[i]
		if got := s.total(t, e, all("logs")); got.Clicks != want {
			t.Fatalf("%d clicks after batch %d, want %d", got.Clicks, i, want)
		}
	}
}

// Two loaders with logs of the same links and clients, which are new to both.
func (s *suite) concurrent(t *testing.T) { s.race(t, "concurrent", NewLog(), NewLog()) }

// Two loaders with the same events: each event counts once.
func (s *suite) concurrentRepeats(t *testing.T) {
	l := NewLog()
	s.race(t, "concurrent repeats", l, l)
}

// race fills two logs, or one, and loads them at the same time.
func (s *suite) race(t *testing.T, app string, logs ...*Log) {
	const batches, size = 12, 60
	for i := range batches * size {
		for j, l := range logs {
			if j > 0 && l == logs[0] {
				continue
			}
			l.Write(s.click(fmt.Sprint(app, i%3), func(e *clicklog.Event) {
				e.Link.ID, e.Browser, e.ReferrerHost = fmt.Sprint(i/2), fmt.Sprint(i/5), fmt.Sprint(i/3)
			}))
		}
	}
	var wg sync.WaitGroup
	var last eventstore.Engine
	for _, l := range logs {
		e := s.open(t)
		last = e
		wg.Go(func() {
			for i := range batches {
				if err := e.Append(t.Context(), l.Batch(i*size, (i+1)*size)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, l := range logs {
		if err := s.ref.Append(t.Context(), l.Batch(0, l.Len())); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		f := all(fmt.Sprint(app, i))
		s.total(t, last, f)
		for _, by := range []eventstore.Dimension{eventstore.ByLink, eventstore.ByBrowser, eventstore.ByReferrer} {
			s.count(t, last, eventstore.Query{Filter: f, Grouping: eventstore.Grouping{By: by, Links: true}})
		}
	}
}

// Whatever a visitor sends is stored in the form of eventstore.Clean: a refused row
// would stop the loader for good.
func (s *suite) oddText(t *testing.T) {
	e := s.open(t)
	texts := []string{"\x00", "a\x00b", "\xff\xfe", "\x00\xff\x00", strings.Repeat("é", 30_000), strings.Repeat("x", 401),
		"'; --", "?", "\\", "\\N\t\n", "{x:UInt8}", "😀", "\u0000,", "\u2028", "%s"}
	for i, text := range texts {
		var tags []string
		if eventstore.Clean(text) != "" && !strings.Contains(text, ",") && len(text) < 400 {
			tags = []string{text, "tag"}
		}
		b := Batch(
			s.click("odd", func(e *clicklog.Event) {
				e.At += clock.Instant(i)
				e.Link.Slug, e.Link.TagIDs, e.Link.Prefix, e.Link.CampaignID = text, tags, text, text
				e.OS, e.Browser, e.ReferrerHost, e.RuleID, e.Country = text, text, text, text, text
				e.Type, e.Destination = clicklog.EventType(text), text
			}),
			s.click("odd", func(e *clicklog.Event) {
				e.At += clock.Instant(i)
				e.Link.ID, e.Link.Slug, e.Link.Hostname, e.ReferrerHost = text, text, text, text
			}),
			s.click("odd", func(e *clicklog.Event) { e.Country = []string{"pt", "P1", "PTX", "P", "", "ÄÖ"}[i%6] }),
			s.click("app "+text, nil))
		s.append(t, e, b)
		s.append(t, e, b)
	}
	f := all("odd")
	f.Country = "PT"
	if got := s.total(t, e, f); got.Clicks != int64(len(texts)) {
		t.Fatalf("%d clicks, want %d", got.Clicks, len(texts))
	}
	for _, by := range Dimensions {
		q := eventstore.Query{Filter: all("odd"), Grouping: eventstore.Grouping{By: by, Visitors: true, Links: true}}
		q.Bounds = []clock.Instant{q.Start, Start + 3, q.End}
		for _, row := range s.count(t, e, q) {
			q.After = &eventstore.Rank{Clicks: row.Clicks, Value: row.Value}
			if by != eventstore.Time && by != eventstore.None {
				s.count(t, e, q)
			}
		}
	}
	s.pages(t, e, all("odd"), 7)
	for _, text := range texts {
		f := all("odd")
		f.LinkID = eventstore.Clean(text)
		s.total(t, e, f)
		s.total(t, e, all(eventstore.Clean("app "+text)))
	}
}
