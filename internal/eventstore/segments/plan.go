package segments

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

const (
	// sealAt is how many events the young segments have together when they become files.
	sealAt = 200_000
	// settle is how long after midnight the young segments of the day become files: by
	// then the loaders have brought its last events.
	settle = 10 * time.Minute
	// maxEvents is the most events of a file that several are merged into: some 50 MB.
	// One with half of them is full.
	maxEvents = 2_000_000
	full      = maxEvents / 2
	// maxSources is the most segments that a job takes.
	maxSources = 1000
	// fanIn is how many segments of about the same size are merged into one, so that an
	// event is rewritten as often as there are sizes. A query reads many young segments in
	// less time than it takes to rewrite their events.
	youngFanIn, fileFanIn = 64, 8
	// closedFiles is how many files that are not full a month has at most that has ended.
	closedFiles = 4
	// closedAfter is how long after its end a month gets its last events, but for few.
	closedAfter = 24 * time.Hour
)

// job is a step of compaction: segments become a young one, or files.
type job struct {
	old   []entry
	young bool
}

// plan returns what is to be done to the segments of the manifest at some time, nil for
// nothing. Doing again and again what it says comes to an end. Without storing it makes no
// files: the store does not work.
func plan(manifest []entry, now clock.Instant, storing bool) *job {
	var young, small, files []entry
	for _, s := range manifest {
		switch {
		case s.young:
			young = append(young, s)
			if s.events <= sealAt/2 {
				small = append(small, s)
			}
		case s.events < full:
			files = append(files, s)
		}
	}
	if storing && due(young, now) {
		slices.SortFunc(young, func(a, b entry) int { return cmp.Compare(a.created, b.created) })
		return &job{old: upTo(full, young)}
	}
	if old := alike(small, youngFanIn); old != nil {
		return &job{old: fitting(sealAt, old), young: true}
	}
	if !storing {
		return nil
	}
	byMonth := map[month][]entry{}
	for _, s := range files {
		m := monthOf(s.first)
		byMonth[m] = append(byMonth[m], s)
	}
	for m, files := range byMonth {
		old := alike(files, fileFanIn)
		if old == nil && len(files) > closedFiles && now >= (m+1).start().Add(closedAfter) {
			old = files
		}
		if old != nil {
			return &job{old: fitting(maxEvents, old)}
		}
	}
	return nil
}

// due reports whether young segments are to become files: they are many events, or
// from before today.
func due(young []entry, now clock.Instant) bool {
	midnight := clock.At(now.Add(-settle).Time().Truncate(24 * time.Hour))
	events := int64(0)
	for _, s := range young {
		events += s.events
		if s.created < midnight {
			return true
		}
	}
	return events >= sealAt
}

// alike returns the segments of the smallest size of which there are so many that they
// are to be merged. Sizes are powers of the number.
func alike(list []entry, fanIn int) []entry {
	power := bits.Len(uint(fanIn)) - 1
	sizes := map[int][]entry{}
	for _, s := range list {
		size := bits.Len64(uint64(s.events)) / power
		sizes[size] = append(sizes[size], s)
	}
	smallest := -1
	for size, list := range sizes {
		if len(list) >= fanIn && (smallest < 0 || size < smallest) {
			smallest = size
		}
	}
	return sizes[smallest]
}

// fitting returns the smallest of some segments, as many as may be merged into one of so
// many events. As none has more than half of them, these are at least two of two.
func fitting(events int64, list []entry) []entry {
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.events, b.events) })
	return upTo(events, list)
}

// upTo returns the first of some segments: those with so many events together, but at
// least one.
func upTo(events int64, list []entry) []entry {
	n := 0
	for n < min(len(list), maxSources) && (n == 0 || list[n].events <= events) {
		events -= list[n].events
		n++
	}
	return list[:n]
}
