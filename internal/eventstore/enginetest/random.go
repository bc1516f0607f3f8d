package enginetest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// queries is how many of each dimension are asked at a time.
const queries = 3

// Random events in random batches, late ones and repeated ones among them, and random
// questions of each kind while more is appended.
func (s *suite) random(t *testing.T) {
	for range rounds {
		seed := rand.Uint64()
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { s.round(t, s.open(t), seed) }) {
			return
		}
	}
}

// round appends and asks what a seed says.
func (s *suite) round(t *testing.T, e eventstore.Engine, seed uint64) {
	traffic := NewTraffic(seed, fmt.Sprint("random ", seed), Start)
	l := NewLog()
	l.Write(traffic.Events(traffic.IntN(400))...)
	for from := 0; ; {
		s.ask(t, e, traffic)
		if from == l.Len() {
			return
		}
		to := min(l.Len(), from+1+traffic.IntN(200))
		s.append(t, e, l.Batch(max(0, from-traffic.IntN(20)), to))
		from = to
	}
}

// ask asks questions of each kind.
func (s *suite) ask(t *testing.T, e eventstore.Engine, traffic *Traffic) {
	t.Helper()
	for _, by := range Dimensions {
		for range queries {
			s.count(t, e, traffic.Query(by))
		}
	}
	s.several(t, e, traffic)
	f := all(traffic.App)
	for _, with := range conditions {
		one := f
		with(traffic, &one)
		s.total(t, e, one)
	}
	f = traffic.Filter()
	s.pages(t, e, f, 1+traffic.IntN(100)+int(s.total(t, e, f).Events)/20)
}

// several asks for several groupings at once.
func (s *suite) several(t *testing.T, e eventstore.Engine, traffic *Traffic) {
	t.Helper()
	f := traffic.Filter()
	var by []eventstore.Grouping
	for range traffic.IntN(4) {
		by = append(by, traffic.grouping(Dimensions[traffic.IntN(len(Dimensions))], &f))
	}
	got, err := e.Count(t.Context(), f, by...)
	want, _ := s.ref.Count(t.Context(), f, by...)
	if err != nil || len(got) != len(want) {
		t.Fatalf("count %+v by %+v: %d answers, %v", f, by, len(got), err)
	}
	for i := range want {
		if len(got[i])+len(want[i]) > 0 && !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("count %+v by %+v, the %dth of %d:\n got %+v\nwant %+v", f, by[i], i, len(by), got[i], want[i])
		}
	}
}

// Enough events that an engine has to keep them in several parts: days of which each
// has many, most of them in order as clicks come, small apps beside a large one.
func (s *suite) many(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	e := s.open(t)
	large := NewTraffic(seed, "large", Start)
	large.Days, large.Visitors = 3, 500
	events := large.Events(many)
	var small []*Traffic
	for i := range 5 {
		small = append(small, NewTraffic(seed+uint64(i), fmt.Sprint("small ", i), Start))
		events = append(events, small[i].Events(100)...)
	}
	slices.SortFunc(events, func(a, b clicklog.Event) int { return int(a.At - b.At) })
	for range 200 { // some late ones
		i, j := large.IntN(len(events)), large.IntN(len(events))
		events[i], events[j] = events[j], events[i]
	}
	l := NewLog()
	l.Write(events...)
	for from := 0; from < l.Len(); from += 2048 {
		s.append(t, e, l.Batch(from, min(l.Len(), from+2048)))
	}
	for _, traffic := range append(small, large) {
		s.ask(t, e, traffic)
	}
	q := eventstore.Query{Filter: all("large"), Grouping: eventstore.Grouping{By: eventstore.Time, Visitors: true,
		Links: true, Installs: true}}
	for i := range clock.Instant(hours + 1) {
		q.Bounds = append(q.Bounds, Start-Start%day-hours/2*day/24+i*day/24)
	}
	q.Start, q.End = q.Bounds[0], q.Bounds[hours]
	s.count(t, e, q)
}
