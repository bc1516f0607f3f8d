package segment

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/waymarkhq/waymark/internal/clock"
)

const start = clock.Instant(1_795_176_000_000_000)

// events makes random events of some apps and days, in order.
func events(random *rand.Rand, n, apps, days int) []Event {
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	list := make([]Event, n)
	for i := range list {
		list[i] = Event{
			App: 1 + random.Int64N(int64(apps)), At: start + clock.Instant(random.Int64N(int64(days)*day)),
			ID: MakeID(random.Int64N(1 << 47)), Type: pick("click", "click", "app_open"), Link: random.Int64N(50),
			Visitor: int64(random.Uint64()), Install: random.Int64N(3), Device: pick("ios", "bot"), OS: pick("", "iOS"),
			Browser: pick("", "Safari"), Source: pick("browser", "qr"), Country: pick("PT", "DE", "ZZ"),
			Referrer: pick("", fmt.Sprint("www", random.IntN(1000))), Rule: pick("", "rule"),
			Destination: pick("web", "none"),
		}
	}
	slices.SortFunc(list, func(a, b Event) int { return compare(&a, &b) })
	return list
}

func written(t testing.TB, list []Event) []byte {
	var out bytes.Buffer
	w := NewWriter(&out)
	add(t, w, list)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func add(t testing.TB, w *Writer, list []Event) {
	for i := range list {
		if err := w.Add(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func opened(t testing.TB, b []byte) *File {
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, apps, days int }{
		{0, 1, 1}, {1, 1, 1}, {2048, 3, 2}, {40_000, 1, 1}, {300_000, 4, 9},
	} {
		list := events(random, c.n, c.apps, c.days)
		f := opened(t, written(t, list))
		var got []Event
		for e, err := range f.Events() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, *e)
		}
		if !slices.Equal(got, list) || f.Rows() != int64(c.n) {
			t.Errorf("%v: got %d events, want %d", c, len(got), c.n)
		}
	}
}

// Another reader of Parquet reads the same.
func TestOtherReader(t *testing.T) {
	list := events(rand.New(rand.NewPCG(3, 4)), 50_000, 3, 4)
	data := written(t, list)
	got, err := parquet.Read[Event](bytes.NewReader(data), int64(len(data)))
	if err != nil || !slices.Equal(got, list) {
		t.Errorf("got %d events, %v; want %d", len(got), err, len(list))
	}
}

// A writer that is used again writes the same bytes as a new one, also after a segment
// that was given up.
func TestReset(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	w := NewWriter(io.Discard)
	for _, n := range []int{20_000, 10, 0, 5000} {
		list := events(random, n, 2, 3)
		var out bytes.Buffer
		w.Reset(&out)
		add(t, w, list)
		if err := w.Close(); err != nil || !bytes.Equal(out.Bytes(), written(t, list)) {
			t.Errorf("%d events: other bytes than a new writer's, %v", n, err)
		}
		w.Reset(io.Discard)
		add(t, w, list[:n/2])
	}
}

func TestOrder(t *testing.T) {
	e := events(rand.New(rand.NewPCG(7, 8)), 1, 1, 1)[0]
	for name, edit := range map[string]func(*Event){
		"same":       func(e *Event) {},
		"app before": func(e *Event) { e.App--; e.At++ },
		"at before":  func(e *Event) { e.At--; e.ID[0]++ },
		"id before":  func(e *Event) { e.ID[5]-- },
	} {
		w, before := NewWriter(io.Discard), e
		before.ID[5] |= 1
		after := before
		edit(&after)
		if err := w.Add(&before); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(&after); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestID(t *testing.T) {
	for _, id := range []int64{0, 1, 0x0102_0304_0506, 1<<48 - 1} {
		if got := MakeID(id).Int(); got != id {
			t.Errorf("got %x, want %x", got, id)
		}
	}
	if (MakeID(0x0102_0304_0506) != ID{1, 2, 3, 4, 5, 6}) {
		t.Error("the highest byte is not the first")
	}
}

// Row groups are cut where doc.go says.
func TestRowGroups(t *testing.T) {
	type part struct{ app, day, n int }
	apps := func(n int) (list []part) {
		for app := range n {
			list = append(list, part{app, 0, 16_000})
		}
		return list
	}
	for name, c := range map[string]struct {
		parts []part
		want  []int
	}{
		"nothing": {
			nil, nil},
		"small apps and days share": {
			[]part{{1, 0, 9}, {1, 1, 9}, {2, 0, 9}}, []int{27}},
		"a large day is alone": {
			[]part{{1, 0, 5}, {1, 1, ownRows}, {1, 2, 5}, {1, 3, 5}}, []int{5, ownRows, 10}},
		"a day just below is not": {
			[]part{{1, 0, 5}, {1, 1, ownRows - 1}, {1, 2, 5}}, []int{ownRows + 9}},
		"a large app is alone": {
			[]part{{1, 0, 5}, {2, 0, 9000}, {2, 1, 9000}, {3, 0, 5}}, []int{5, 18_000, 5}},
		"an app just below is not": {
			[]part{{1, 0, 5}, {2, 0, 9000}, {2, 1, ownRows - 9001}, {3, 0, 5}}, []int{ownRows + 9}},
		"small apps are never divided": {
			apps(9), []int{128_000, 16_000}},
		"a very large day is divided": {
			[]part{{1, 0, maxRows + 5}, {1, 1, 5}}, []int{maxRows, 5, 5}},
		"as many as fit": {
			[]part{{1, 0, maxRows}, {2, 0, 1}}, []int{maxRows, 1}},
		"days of a large app, together": {
			[]part{{1, 0, 16_000}, {1, 1, 16_000}, {2, 0, 1}}, []int{32_000, 1}},
	} {
		var list []Event
		for _, p := range c.parts {
			for i := range p.n {
				list = append(list, Event{App: int64(p.app), At: start + clock.Instant(p.day*day+i)})
			}
		}
		f := opened(t, written(t, list))
		var got []int
		for g := range f.Groups() {
			group := f.Group(g)
			got = append(got, group.Rows)
			first, last := list[0], list[group.Rows-1]
			if group.FirstApp != first.App || group.LastApp != last.App ||
				group.FirstAt != start+firstAt(list[:group.Rows]) || group.LastAt != start+lastAt(list[:group.Rows]) {
				t.Errorf("%s: statistics %+v", name, group)
			}
			list = list[group.Rows:]
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: row groups of %v, want %v", name, got, c.want)
		}
	}
}

func firstAt(list []Event) clock.Instant {
	return slices.MinFunc(list, byAt).At - start
}

func lastAt(list []Event) clock.Instant {
	return slices.MaxFunc(list, byAt).At - start
}

func byAt(a, b Event) int { return cmp.Compare(a.At, b.At) }
