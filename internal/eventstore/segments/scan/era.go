package scan

import (
	"cmp"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

const (
	day = clock.Instant(24 * time.Hour / time.Microsecond)

	// eraRows is how many rows an era may have before it is worth to read some of them
	// twice.
	eraRows = 64 << 10
)

// Group is a row group of a segment.
type Group struct {
	File  *segment.File
	Index int
}

// Groups adds the row groups of a segment to list.
func Groups(list []Group, f *segment.File) []Group {
	for i := range f.Groups() {
		list = append(list, Group{f, i})
	}
	return list
}

func (g Group) stats() segment.Group { return g.File.Group(g.Index) }

// era is a period with the row groups that have events in it. Eras of visitors begin
// at midnight UTC: a visitor's hash lives in one era only, so that what eras count adds
// up.
type era struct {
	start, end clock.Instant
	groups     []Group
	rows       int
}

// span is a row group and its part of a period, in days.
type span struct {
	Group
	first, last clock.Instant
	rows        int
}

// spans returns the row groups that may have events of an app and period, the earliest
// first.
func spans(f *eventstore.Filter, app int64, groups []Group) []span {
	var list []span
	for _, g := range groups {
		s := g.stats()
		if s.FirstApp <= app && app <= s.LastApp && s.FirstAt < f.End && s.LastAt >= f.Start {
			list = append(list, span{g, midnight(max(s.FirstAt, f.Start)), midnight(min(s.LastAt, f.End-1)), s.Rows})
		}
	}
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	return list
}

// midnight returns the start of the UTC day of an instant.
func midnight(at clock.Instant) clock.Instant {
	return at - ((at%day)+day)%day
}

// each returns an era for each row group, which do for all but visitors.
func each(f *eventstore.Filter, list []span) (eras []era) {
	for _, s := range list {
		eras = append(eras, era{f.Start, f.End, []Group{s.Group}, s.rows})
	}
	return eras
}

// byDays returns eras of whole days. A new one begins where no row group goes on, and
// also where only small ones do, once an era has enough rows: these groups are read for
// both.
func byDays(f *eventstore.Filter, list []span) (eras []era) {
	var open []span // those of the era
	start := f.Start
	end := func(at clock.Instant) {
		e := era{start: start, end: min(at, f.End)}
		for _, s := range open {
			e.groups = append(e.groups, s.Group)
			e.rows += s.rows
		}
		eras, start = append(eras, e), at
		open = slices.DeleteFunc(open, func(s span) bool { return s.last < at })
	}
	for _, at := range midnights(list) {
		rows, going := 0, 0
		for _, s := range open {
			rows += s.rows
			if s.last >= at {
				going += s.rows
			}
		}
		if len(open) > 0 && (going == 0 || rows >= eraRows && 4*going <= rows) {
			end(at)
		}
		for len(list) > 0 && list[0].first <= at {
			open, list = append(open, list[0]), list[1:]
		}
	}
	if len(open) > 0 {
		end(f.End)
	}
	return eras
}

// midnights returns when row groups begin and have ended, in order.
func midnights(list []span) []clock.Instant {
	var all []clock.Instant
	for _, s := range list {
		all = append(all, s.first, s.last+day)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
