package scan

import (
	"slices"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Eras cover the days of all row groups, each once; and they end where they can.
func TestEras(t *testing.T) {
	type part struct{ first, last, rows int }
	type want struct{ from, to, groups int }
	for _, c := range []struct {
		name  string
		parts []part
		want  []want
	}{
		{"none",
			nil,
			nil},
		{"days of their own",
			[]part{{0, 0, 9}, {1, 3, 9}, {5, 5, 9}},
			[]want{{0, 1, 1}, {1, 4, 1}, {4, 6, 1}}},
		{"one day in two",
			[]part{{0, 1, 9}, {1, 2, 9}, {3, 3, 9}},
			[]want{{0, 3, 2}, {3, 4, 1}}},
		{"a chain",
			[]part{{0, 1, 9}, {1, 2, 9}, {2, 3, 9}},
			[]want{{0, 4, 3}}},
		{"late ones beside large",
			[]part{{0, 7, 50}, {0, 3, 100_000}, {4, 7, 100_000}},
			[]want{{0, 4, 2}, {4, 8, 2}}},
		{"late ones beside small",
			[]part{{0, 7, 50}, {0, 3, 1000}, {4, 7, 1000}},
			[]want{{0, 8, 3}}},
		{"late ones that are not few",
			[]part{{0, 7, 50_000}, {0, 3, 100_000}, {4, 7, 100_000}},
			[]want{{0, 8, 3}}},
		{"late ones, from the second on",
			[]part{{0, 3, 70_000}, {3, 7, 10}, {4, 5, 70_000}, {6, 8, 1}},
			[]want{{0, 4, 2}, {4, 6, 2}, {6, 9, 2}}},
	} {
		var list []span
		for _, p := range c.parts {
			first, last := start+clock.Instant(p.first)*day, start+clock.Instant(p.last)*day
			list = append(list, span{first: first, last: last, rows: p.rows})
		}
		f := &eventstore.Filter{Start: start, End: start + 9*day}
		var got []want
		for _, e := range byDays(f, list) {
			got = append(got, want{int((e.start - start) / day), int((e.end - start) / day), len(e.groups)})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
