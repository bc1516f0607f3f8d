package scan

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store"
)

var (
	start   = clock.At(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC))
	appIDs  = []string{"app_a", "app_b", "app_c"}
	devices = []string{"ios", "android", "desktop", "other", "bot"}
	sources = []string{"browser", "social", "qr", "app", "unknown"}
	places  = []string{"PT", "DE", "US", "ZZ"}
	systems = []string{"", "iOS", "Windows"}
	types   = []clicklog.EventType{clicklog.Click, clicklog.AppOpen, clicklog.ContentView, clicklog.LegacyContentLoad,
		clicklog.RecoveryCreated, clicklog.RecoveryMatched, ""}
	dimensions = []eventstore.Dimension{eventstore.None, eventstore.Time, eventstore.ByCountry, eventstore.ByDevice,
		eventstore.BySource, eventstore.ByOS, eventstore.ByBrowser, eventstore.ByReferrer, eventstore.ByLink,
		eventstore.ByDomain, eventstore.ByPrefix, eventstore.ByCampaign, eventstore.ByFolder, eventstore.ByTag,
		eventstore.ByGroup, eventstore.ByType}
)

func pick[T any](random *rand.Rand, values []T) T { return values[random.IntN(len(values))] }

// numbered has the numbers that link states got in a database.
type numbered struct {
	links map[int64]*clicklog.Link
	nos   map[string][]int64 // by app
	app   map[string]int64
}

// linkStates makes random states of links of each app.
func linkStates(t testing.TB, db *store.DB, random *rand.Rand, n int) *numbered {
	t.Helper()
	made := &numbered{map[int64]*clicklog.Link{}, map[string][]int64{}, map[string]int64{}}
	numbers := eventstore.NewNumbers()
	err := db.InTx(context.Background(), func(tx *store.Tx) (err error) {
		in, err := numbers.In(context.Background(), tx)
		if err != nil {
			return err
		}
		for i := range n {
			l := randomLink(random, appIDs[i%len(appIDs)], i)
			if made.app[l.AppID], err = in.App(context.Background(), l.AppID); err != nil {
				return err
			}
			no, err := in.Link(context.Background(), made.app[l.AppID], l)
			if err != nil {
				return err
			}
			made.links[no] = l
			made.nos[l.AppID] = append(made.nos[l.AppID], no)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func randomLink(random *rand.Rand, app string, i int) *clicklog.Link {
	l := &clicklog.Link{
		ID: fmt.Sprint("link", i/2), AppID: app, Hostname: pick(random, []string{"a.example.com", "b.example.com"}),
		Prefix: pick(random, []string{"", "l"}), Slug: fmt.Sprint("slug", i),
		Group:      pick(random, []string{"main", "operational"}),
		CampaignID: pick(random, []string{"", "c1", "c2"}), FolderID: pick(random, []string{"", "f1"}),
	}
	for _, tag := range []string{"t1", "t2", "t3"} {
		if random.IntN(3) == 0 {
			l.TagIDs = append(l.TagIDs, tag)
		}
	}
	return l
}

// randomEvents makes events over some days. A visitor belongs to one day.
func randomEvents(random *rand.Rand, made *numbered, n, days int, apps []string) []segment.Event {
	list := make([]segment.Event, n)
	visitors := int64(1 + random.IntN(max(1, n/days)))
	for i := range list {
		app := pick(random, apps)
		at := start + clock.Instant(random.Int64N(int64(days)*int64(day)))
		if random.IntN(20) == 0 {
			at = midnight(at) - clock.Instant(random.IntN(2)) // the first or the last instant of a day
		}
		install := int64(0)
		if random.IntN(3) == 0 {
			install = 1 + random.Int64N(50)
		}
		kind := clicklog.Click
		if random.IntN(3) == 0 {
			kind = pick(random, types)
		}
		visitor := (int64(midnight(at)/day)*visitors + random.Int64N(visitors)) * 0x5851f42d4c957f2d
		list[i] = segment.Event{
			App: made.app[app], At: at, ID: segment.MakeID(random.Int64N(1 << 47)), Type: string(kind),
			Link: pick(random, made.nos[app]), Visitor: visitor,
			Install: install, Device: pick(random, devices), OS: pick(random, systems), Browser: pick(random, systems),
			Source: pick(random, sources), Country: pick(random, places),
			Referrer: pick(random, []string{"", "www.example.org", fmt.Sprint(random.IntN(9))}),
			Rule:     pick(random, []string{"", "rule"}), Destination: pick(random, []string{"web", "none"}),
		}
	}
	slices.SortFunc(list, inOrder)
	return list
}

func inOrder(a, b segment.Event) int {
	return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.At, b.At), cmp.Compare(a.ID.Int(), b.ID.Int()))
}

// layout writes events into files: one, many by days, many at random, or by days with
// late ones.
func layout(t testing.TB, random *rand.Rand, list []segment.Event) (groups []Group) {
	t.Helper()
	files := map[int64][]segment.Event{}
	way, span, many := random.IntN(4), 1+random.Int64N(4), 1+random.Int64N(30)
	for _, e := range list {
		file := int64(0)
		switch {
		case way == 1, way == 3 && random.IntN(50) > 0:
			file = int64((e.At-start)/day)/span + 1
		case way == 2:
			file = random.Int64N(many)
		}
		files[file] = append(files[file], e)
	}
	for _, events := range files {
		groups = Groups(groups, file(t, events...))
	}
	return groups
}

// file returns a segment with events.
func file(t testing.TB, events ...segment.Event) *segment.File {
	t.Helper()
	var out bytes.Buffer
	w := segment.NewWriter(&out)
	for i := range events {
		if err := w.Add(&events[i]); err != nil {
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
	return f
}

func randomFilter(random *rand.Rand, days int, apps []string) eventstore.Filter {
	f := eventstore.Filter{AppID: pick(random, apps), Start: start - day, End: start + clock.Instant(days+1)*day}
	if random.IntN(2) == 0 {
		f.Start = start + clock.Instant(random.Int64N(int64(days)*int64(day)))
		f.End = f.Start + clock.Instant(random.Int64N(int64(days)*int64(day)))
	}
	sometimes := func(to *string, values ...string) {
		if random.IntN(8) == 0 {
			*to = pick(random, values)
		}
	}
	sometimes(&f.Group, "main", "operational")
	sometimes(&f.LinkID, "link0", "link1", "link2", "link7")
	sometimes(&f.Hostname, "a.example.com", "c.example.com")
	sometimes(&f.CampaignID, "c1", "c2")
	sometimes(&f.FolderID, "f1")
	sometimes(&f.TagID, "t1", "t2")
	sometimes(&f.Device, devices...)
	sometimes(&f.Source, sources...)
	sometimes(&f.Country, places...)
	sometimes(&f.EventType, "click", "app_open", "tap")
	if random.IntN(8) == 0 {
		f.Prefix = &[]string{pick(random, []string{"", "l"})}[0]
	}
	return f
}

func randomGrouping(random *rand.Rand, f *eventstore.Filter) eventstore.Grouping {
	g := eventstore.Grouping{By: pick(random, dimensions), Visitors: random.IntN(3) > 0, Links: random.IntN(2) == 0,
		Installs: random.IntN(2) == 0, Clicked: random.IntN(4) == 0}
	if random.IntN(4) == 0 {
		g.After = &eventstore.Rank{Clicks: random.Int64N(200), Value: pick(random, places)}
	}
	if random.IntN(4) == 0 {
		g.Limit = 1 + random.IntN(4)
	}
	if g.By == eventstore.Time {
		step := pick(random, []clock.Instant{day / 24, day/2 + 7, day, 7 * day})
		for at := f.Start - clock.Instant(random.Int64N(int64(step))); ; at += step {
			if g.Bounds = append(g.Bounds, at); at >= f.End && len(g.Bounds) > 1 {
				break
			}
		}
	}
	return g
}

// randomGroupings returns one grouping, or several.
func randomGroupings(random *rand.Rand, f *eventstore.Filter) (all []eventstore.Grouping) {
	for range []int{1, 1, 2, 3}[random.IntN(4)] {
		all = append(all, randomGrouping(random, f))
	}
	return all
}
