package segments

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// some returns n segments with as many events each, from an instant on.
func some(n int, events int64, at clock.Instant, young bool) (list []entry) {
	for i := range n {
		list = append(list, entry{id: fmt.Sprint(at, events, i), first: at, last: at, events: events, created: at,
			young: young})
	}
	return list
}

func TestPlan(t *testing.T) {
	now := storetest.Start // noon
	midnight := now.Add(-12 * time.Hour)
	after := midnight.Add(settle) // when the young segments of the day before are due
	december := clock.At(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	closed := december.Add(closedAfter)
	for _, test := range []struct {
		what     string
		manifest []entry
		now      clock.Instant
		want     int // segments
		young    bool
	}{
		{"nothing", nil, now, 0, false},
		{"few young", some(youngFanIn-1, 100, now, true), now, 0, false},
		{"as many as are merged", some(youngFanIn, 100, now, true), now, youngFanIn, true},
		{"of two sizes", append(some(youngFanIn-1, 1, now, true), some(1, 64, now, true)...), now, 0, false},
		{"the smaller ones first", append(some(youngFanIn+3, 100, now, true), some(youngFanIn+1, 1, now, true)...),
			now, youngFanIn + 1, true},
		{"nearly a file", some(2, sealAt/2-1, now, true), now, 0, false},
		{"a file", some(2, sealAt/2, now, true), now, 2, false},
		{"before midnight", some(1, 1, midnight-1, true), after - 1, 0, false},
		{"a while after midnight", some(1, 1, midnight-1, true), after, 1, false},
		{"with those of today", append(some(1, 1, midnight-1, true), some(2, 9, midnight, true)...), after, 3, false},
		{"of today", some(3, 1, midnight, true), after, 0, false},
		{"few files", some(fileFanIn-1, 100, now, false), now, 0, false},
		{"many files", some(fileFanIn, 100, now, false), now, fileFanIn, false},
		{"of two months", append(some(5, 100, now, false), some(5, 100, december, false)...), now, 0, false},
		{"a month before its last events", some(closedFiles+1, 100, now, false), closed - 1, 0, false},
		{"a month that has ended", some(closedFiles+1, 100, now, false), closed, closedFiles + 1, false},
		{"few files of it", some(closedFiles, 100, now, false), closed, 0, false},
		{"large files", some(fileFanIn, full-1, now, false), now, 2, false},
		{"full files", some(100, full, now, false), closed, 0, false},
	} {
		j := plan(test.manifest, test.now, true)
		if j == nil {
			j = &job{}
		}
		if len(j.old) != test.want || j.young != test.young {
			t.Errorf("%s: %d segments, young %t; want %d, %t", test.what, len(j.old), j.young, test.want, test.young)
		}
	}
}

// A job is never larger than what can be stored, however much waits; the oldest come
// first. Without a store, young segments are merged among themselves.
func TestPlanBacklog(t *testing.T) {
	now := storetest.Start
	for _, test := range []struct {
		what string
		each int64
		n    int
		want int
	}{
		{"many events", 2048, 6000, full / 2048},
		{"many segments", 1, maxSources + 1, maxSources},
		{"one too large", full + 1, 2, 1},
		{"just full", full / 4, 5, 4},
	} {
		var list []entry
		for i := range test.n {
			list = append(list, entry{id: fmt.Sprint(i), events: test.each, first: now, last: now, young: true,
				created: now.Add(-24*time.Hour - time.Duration(i)*time.Microsecond)})
		}
		j := plan(list, now, true)
		if j == nil || j.young || len(j.old) != test.want {
			t.Errorf("%s: %+v, want a file of %d", test.what, j, test.want)
		} else if oldest := j.old[0]; oldest.id != list[test.n-1].id {
			t.Errorf("%s: begins with %s", test.what, oldest.id)
		}
		steps := 0
		for j := plan(list, now, false); j != nil; j = plan(list, now, false) {
			made := entry{id: fmt.Sprint("made ", steps), young: true}
			gone := map[string]bool{}
			for _, s := range j.old {
				gone[s.id] = true
				made.events += s.events
			}
			if !j.young || made.events > sealAt || len(j.old) < 2 {
				t.Fatalf("%s: %d segments with %d events, young %t", test.what, len(j.old), made.events, j.young)
			}
			list = append(slices.DeleteFunc(list, func(s entry) bool { return gone[s.id] }), made)
			steps++
		}
		if most := 5*youngFanIn + 2*int(int64(test.n)*test.each/sealAt); len(list) > most {
			t.Errorf("%s: %d young segments are left, want %d at most", test.what, len(list), most)
		}
	}
	if j := plan(some(fileFanIn, 100, now, false), now, false); j != nil {
		t.Errorf("files without a store: %+v", j)
	}
}

// Whatever comes, plans end, and few segments are left.
func TestPlanEnds(t *testing.T) {
	var manifest []entry
	now, steps, rewritten := storetest.Start, 0, int64(0)
	const batches, size = 40_000, 300
	for n := range batches {
		now = now.Add(time.Minute)
		manifest = append(manifest, entry{id: fmt.Sprint(n), first: now, last: now, events: size, created: now,
			young: true})
		for j := plan(manifest, now, true); j != nil; j = plan(manifest, now, true) {
			steps++
			made := entry{id: fmt.Sprint("made ", steps), first: now, created: now, young: j.young}
			gone := map[string]bool{}
			for _, s := range j.old {
				gone[s.id] = true
				made.events += s.events
				made.first, made.created = min(made.first, s.first), min(made.created, s.created)
			}
			rewritten += made.events
			var kept []entry
			for _, s := range manifest {
				if !gone[s.id] {
					kept = append(kept, s)
				}
			}
			manifest = append(kept, made)
		}
		if len(manifest) > 5*youngFanIn+3*fileFanIn {
			t.Fatalf("%d segments after %d batches", len(manifest), n+1)
		}
	}
	if each := float64(rewritten) / (batches * size); each > 8 {
		t.Errorf("an event is written %.1f times", each)
	} else {
		t.Logf("an event is written %.1f times, %d segments", each, len(manifest))
	}
}

func TestMonth(t *testing.T) {
	for _, at := range []string{"1970-01-01T00:00:00Z", "2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00Z",
		"2024-02-29T12:00:00Z"} {
		i, err := clock.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		m := monthOf(i)
		if m.start() > i || (m+1).start() <= i || monthOf(m.start()) != m || monthOf(m.start()-1) != m-1 {
			t.Errorf("%s: from %s to %s", at, m.start(), (m + 1).start())
		}
	}
}
