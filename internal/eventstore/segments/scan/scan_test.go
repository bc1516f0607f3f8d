package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Whatever lies in which files, Count and List answer as the plainest way does.
func TestReference(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	made := linkStates(t, db, random, 60)
	links, pool := NewLinks(db), turns.New(2)
	for round := range 40 {
		days := 1 + random.IntN(12)
		n := pick(random, []int{0, 1, 100, 3000, 20_000})
		apps := append(appIDs, appIDs[0], appIDs[0])
		switch round {
		case 0:
			n, days, apps = 300_000, 1, appIDs[:1] // several row groups of a day
		case 1:
			n, days = 300_000, 2 // row groups of their own
		}
		list := randomEvents(random, made, n, days, apps)
		groups := layout(t, random, list)
		for range min(40, 2_000_000/(n+1)) {
			f := randomFilter(random, days, apps)
			checkCount(t, pool, links, made, groups, list, f, randomGroupings(random, &f)...)
			checkList(t, random, pool, links, made, groups, list, randomFilter(random, days, apps))
			if t.Failed() {
				return
			}
		}
	}
}

// counted is what Count answers with a turn.
func counted(ctx context.Context, pool *turns.Pool, f eventstore.Filter, by []eventstore.Grouping, links *Links,
	groups []Group) (rows [][]eventstore.Row, err error) {
	err = pool.Do(ctx, f.AppID, func(ctx context.Context, turn *turns.Turn) (err error) {
		rows, err = Count(ctx, turn, f, by, links, groups)
		return err
	})
	return rows, err
}

// listed is what List answers with a turn.
func listed(ctx context.Context, pool *turns.Pool, f eventstore.Filter, before *eventstore.Place, limit int,
	links *Links, groups []Group) (events []eventstore.Listed, err error) {
	err = pool.Do(ctx, f.AppID, func(ctx context.Context, turn *turns.Turn) (err error) {
		events, err = List(ctx, turn, f, before, limit, links, groups)
		return err
	})
	return events, err
}

func checkCount(t *testing.T, pool *turns.Pool, links *Links, made *numbered, groups []Group,
	list []segment.Event, f eventstore.Filter, by ...eventstore.Grouping) {
	t.Helper()
	got, err := counted(context.Background(), pool, f, by, links, groups)
	if err != nil {
		t.Fatal(err)
	}
	for n, g := range by {
		want := newReference(&eventstore.Query{Filter: f, Grouping: g})
		for i := range list {
			if l := made.links[list[i].Link]; l.AppID == f.AppID && chooses(&f, &list[i], l) {
				want.add(&list[i], l)
			}
		}
		if !reflect.DeepEqual(got[n], want.rows()) {
			t.Errorf("%+v %d of %+v, of %d events in %d groups:\n got %+v\nwant %+v", f, n, by, len(list), len(groups), got[n],
				want.rows())
		}
	}
}

func checkList(t *testing.T, random *rand.Rand, pool *turns.Pool, links *Links, made *numbered, groups []Group,
	list []segment.Event, f eventstore.Filter) {
	t.Helper()
	var before *eventstore.Place
	if len(list) > 0 && random.IntN(2) == 0 {
		e := pick(random, list)
		before = &eventstore.Place{At: e.At, ID: e.ID.Int() + random.Int64N(2)}
	}
	limit := 1 + random.IntN(100)
	want := []eventstore.Place{}
	for i := range list {
		e := &list[i]
		place := eventstore.Place{At: e.At, ID: e.ID.Int()}
		l := made.links[e.Link]
		if l.AppID == f.AppID && chooses(&f, e, l) && (before == nil || newer(before, &place) < 0) {
			want = append(want, place)
		}
	}
	slices.SortFunc(want, func(a, b eventstore.Place) int { return newer(&a, &b) })
	want = want[:min(limit, len(want))]
	events, err := listed(context.Background(), pool, f, before, limit, links, groups)
	if err != nil {
		t.Fatal(err)
	}
	got := []eventstore.Place{}
	for _, e := range events {
		got = append(got, e.Place)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v before %v: got %d events %v, want %d %v", f, before, len(got), got, len(want), want)
	}
}

// one is a click of app number 1.
func one(at clock.Instant, id int64) segment.Event {
	return segment.Event{App: 1, At: at, ID: segment.MakeID(id), Type: string(clicklog.Click), Link: 1, Visitor: id}
}

// oneApp returns Links of a database whose app number 1 is "a", with link number 1.
func oneApp(t *testing.T) *Links {
	t.Helper()
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	if no := numberLink(t, db, &clicklog.Link{ID: "one", AppID: "a"}); no != 1 {
		t.Fatalf("the first link has number %d", no)
	}
	return NewLinks(db)
}

// A period has its start and not its end, also where a row group has nothing else.
func TestPeriod(t *testing.T) {
	links := oneApp(t)
	groups := Groups(nil, file(t, one(start, 1)))
	for _, c := range []struct {
		from, to clock.Instant
		want     int64
	}{{0, 1, 1}, {0, 0, 0}, {-1, 0, 0}, {1, 2, 0}, {-1, 1, 1}} {
		f := eventstore.Filter{AppID: "a", Start: start + c.from, End: start + c.to}
		for _, visitors := range []bool{false, true} {
			rows, err := counted(context.Background(), turns.New(1), f,
				[]eventstore.Grouping{{Visitors: visitors}}, links, groups)
			if err != nil || len(rows[0]) != 1 || rows[0][0].Clicks != c.want {
				t.Errorf("from %d to %d: %+v, %v; want %d", c.from, c.to, rows, err, c.want)
			}
		}
		events, err := listed(context.Background(), turns.New(1), f, nil, 9, links, groups)
		if err != nil || len(events) != int(c.want) {
			t.Errorf("from %d to %d: %d events, %v; want %d", c.from, c.to, len(events), err, c.want)
		}
	}
}

// Events of one instant are listed by id, in whichever files they lie, and as they are.
func TestListOfOneInstant(t *testing.T) {
	links := oneApp(t)
	last := one(start, 6)
	last.Type, last.Device, last.OS, last.Browser, last.Source = "app_open", "ios", "iOS", "Safari", "app"
	last.Country, last.Referrer, last.Rule, last.Destination, last.Install = "PT", "www", "rule", "app", 7
	groups := Groups(nil, file(t, one(start, 1), one(start, 3)))
	groups = Groups(groups, file(t, one(start, 2), last))
	groups = Groups(groups, file(t, one(start, 4), one(start, 5)))
	f := eventstore.Filter{AppID: "a", Start: start, End: start + 1}
	for limit := range 8 {
		for before := int64(1); before < 9; before++ {
			place := &eventstore.Place{At: start, ID: before}
			events, err := listed(context.Background(), turns.New(1), f, place, limit, links, groups)
			if err != nil || len(events) != int(min(int64(limit), before-1, 6)) {
				t.Fatalf("%d before %d: %d events, %v", limit, before, len(events), err)
			}
			for i, e := range events {
				if e.ID != min(before-1, 6)-int64(i) {
					t.Errorf("%d before %d: event %d has id %d", limit, before, i, e.ID)
				}
			}
		}
	}
	events, err := listed(context.Background(), turns.New(1), f, nil, 1, links, groups)
	want := eventstore.Listed{Place: eventstore.Place{At: start, ID: 6}, Type: clicklog.AppOpen,
		Link: clicklog.Link{ID: "one", AppID: "a"}, Device: "ios", OS: "iOS", Browser: "Safari", Country: "PT",
		Source: "app", ReferrerHost: "www", RuleID: "rule", Into: "app", Identified: true}
	if err != nil || !reflect.DeepEqual(events, []eventstore.Listed{want}) {
		t.Errorf("got %+v, %v; want %+v", events, err, want)
	}
}

// What a question cannot be answered from is an error.
func TestRefusals(t *testing.T) {
	links := oneApp(t)
	whole := eventstore.Filter{AppID: "a", Start: start, End: start + day}
	groups := Groups(nil, file(t, one(start, 1)))
	for name, g := range map[string]eventstore.Grouping{
		"no bounds":           {By: eventstore.Time},
		"one bound":           {By: eventstore.Time, Bounds: []clock.Instant{start}},
		"start before bounds": {By: eventstore.Time, Bounds: []clock.Instant{start + 1, start + day}},
		"end after bounds":    {By: eventstore.Time, Bounds: []clock.Instant{start, start + day - 1}},
		"unknown dimension":   {By: "colour"},
	} {
		for _, by := range [][]eventstore.Grouping{{g}, {{}, g}} {
			if rows, err := counted(context.Background(), turns.New(1), whole, by, links, groups); err == nil {
				t.Errorf("%s: %+v", name, rows)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := counted(ctx, turns.New(1), whole, make([]eventstore.Grouping, 1), links, groups); err == nil {
		t.Error("a cancelled question is answered")
	}
}

// Rows in no order, as only damage can leave them, are an error or some answer.
func TestRowsWithoutOrder(t *testing.T) {
	links, random := oneApp(t), rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	w := parquet.NewGenericWriter[segment.Event](&out, parquet.KeyValueMetadata("waymark.segment", "1"))
	for i := range 1000 {
		e := one(start+clock.Instant(random.Int64N(int64(9*day))), int64(i))
		e.App, e.Link = random.Int64N(3), random.Int64()-random.Int64()
		if _, err := w.Write([]segment.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := segment.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		chosen := randomFilter(random, 9, []string{"a"})
		_, err := counted(context.Background(), turns.New(1), chosen, randomGroupings(random, &chosen), links,
			Groups(nil, f))
		if err != nil && !errors.Is(err, segment.ErrDamaged) {
			t.Fatal(err)
		}
		_, err = listed(context.Background(), turns.New(1), chosen, nil, 9, links, Groups(nil, f))
		if err != nil && !errors.Is(err, segment.ErrDamaged) {
			t.Fatal(err)
		}
	}
}

// A question of few events takes little memory for the links that they are not of.
func TestQuestionMemory(t *testing.T) {
	const many = 100_000
	s := noStates()
	for i := range many {
		s.of.number(int64(i))
		s.links = append(s.links, clicklog.Link{ID: fmt.Sprint(i), TagIDs: []string{fmt.Sprint("tag ", i)}})
		s.ids = append(s.ids, int32(i+1))
	}
	for _, by := range []eventstore.Dimension{eventstore.ByLink, eventstore.ByTag, eventstore.ByCampaign} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := newQuestion(&eventstore.Filter{}, []eventstore.Grouping{{By: by}}, s); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / many; each > 9 {
			t.Errorf("by %s: %d bytes for each state of a link", by, each)
		}
	}
}
