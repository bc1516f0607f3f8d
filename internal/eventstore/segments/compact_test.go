package segments

import (
	"errors"
	"os"
	"path/filepath"

	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

const app = "app_5fk2m9q1x7"

// ever is a filter of all events of the app.
var ever = eventstore.Filter{AppID: app, Start: 0, End: storetest.Start.Add(1000 * 24 * time.Hour)}

// ids returns the ids of all events, in their order.
func ids(t testing.TB, e *Engine) (all []int64) {
	t.Helper()
	var place *eventstore.Place
	appID := ""
	for {
		page, err := e.Read(t.Context(), appID, place, 5000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		for i := range page {
			all = append(all, page[i].ID)
		}
		last := page[len(page)-1]
		appID, place = last.Link.AppID, &eventstore.Place{At: last.At, ID: last.ID}
	}
}

// once fails unless each of the wanted events is there once, and no other one is.
func once(t testing.TB, e *Engine, want []int64) {
	t.Helper()
	got := ids(t, e)
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Fatalf("%d events are there, want %d", len(got), len(want))
	}
	rows, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: ever})
	if err != nil || rows[0].Events != int64(len(want)) {
		t.Fatalf("%d events are counted, want %d; %v", rows[0].Events, len(want), err)
	}
}

func load(t testing.TB, e *Engine, batches ...*clicklog.Batch) (added []int64) {
	t.Helper()
	for _, b := range batches {
		if err := e.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Events {
			added = append(added, b.Events[i].ID)
		}
	}
	return added
}

func manifest(t testing.TB, e *Engine) []entry {
	t.Helper()
	all, err := entries(t.Context(), e.DB, "ORDER BY first_at, id")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// files returns the names in the folder of a store.
func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(filepath.Join(dir, "events"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		names = append(names, f.Name())
	}
	return names
}

// tidy fails unless the files are those of the manifest.
func tidy(t testing.TB, e *Engine, dir string) {
	t.Helper()
	var want []string
	for _, s := range manifest(t, e) {
		if !s.young {
			want = append(want, fileName(s.id))
		}
	}
	slices.Sort(want)
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

// A life of months: at every step, each event is there once. In the end there are few
// segments, and no file that none of them has.
func TestLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, g := open(t, db, dir), newTraffic()
		var all []int64
		for day := range 70 {
			g.at = c.Now()
			for range 3 {
				all = append(all, load(t, e, g.batch(7))...)
			}
			if day%9 == 0 { // late events, also of another month
				g.at = c.Now().Add(-33 * 24 * time.Hour)
				all = append(all, load(t, e, g.batch(2))...)
			}
			for done := true; done; {
				var err error
				if done, err = e.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
				if day%16 == 15 {
					once(t, e, all)
				}
			}
			c.Move(24 * time.Hour)
		}
		rest(t, e)
		once(t, e, all)
		if n := len(manifest(t, e)); n > 3*closedFiles+fileFanIn+3 {
			t.Errorf("%d segments", n)
		}
		c.Move(grace)
		rest(t, e)
		for _, s := range manifest(t, e) {
			if monthOf(s.first) != monthOf(s.last) && !s.young {
				t.Errorf("a file from %s to %s", s.first, s.last)
			}
		}
		tidy(t, e, dir)
	})
}

// Two processes load and compact at the same time.
func TestTwoProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		var mu sync.Mutex
		var all []int64
		var loaders, compactors sync.WaitGroup
		stop := make(chan struct{})
		for n := range 2 {
			e, g := open(t, db, dir), newTraffic()
			g.random.Uint64()
			loaders.Go(func() {
				for range 60 {
					b := g.batch(20)
					b.Runs[0].Log = []string{"one", "two"}[n]
					for i := range b.Events {
						b.Events[i].ID ^= int64(n) // other events than those of the other one
					}
					added := load(t, e, b)
					mu.Lock()
					all = append(all, added...)
					mu.Unlock()
				}
			})
			compactors.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := e.Step(t.Context()); err != nil {
						t.Error(err)
					}
					seal(t, e)
				}
			})
		}
		loaders.Wait()
		close(stop)
		compactors.Wait()
		e := open(t, db, dir)
		once(t, e, all)
		c.Move(grace)
		rest(t, e)
		c.Move(writeWithin)
		rest(t, e)
		once(t, e, all)
		tidy(t, e, dir)
	})
}

// A change whose segments were replaced meanwhile, or whose file is due, is undone.
func TestFences(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, other, g := open(t, db, dir), open(t, db, dir), newTraffic()
		all := load(t, e, g.batch(10), g.batch(10))
		old := manifest(t, e)
		if _, err := e.rewrite(t.Context(), old, true, everything); err != nil {
			t.Fatal(err)
		}
		if err := other.replace(t.Context(), old, nil); !errors.Is(err, errLost) {
			t.Errorf("replaced again: %v", err)
		}
		if err := other.replace(t.Context(), append(manifest(t, e), old[0]), nil); !errors.Is(err, errLost) {
			t.Errorf("partly replaced: %v", err)
		}
		once(t, other, all)

		// A writer that is slow: its file is deleted, and it cannot enter it any more.
		f, err := e.seal()
		if err != nil {
			t.Fatal(err)
		}
		defer f.file.Close()
		for row, err := range merged(viewOf(t, e).groups(), key{app: -1}) {
			if err != nil || f.add(row) != nil {
				t.Fatal(err)
			}
		}
		d, err := f.store(t.Context(), e, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Move(writeWithin - time.Microsecond)
		rest(t, other)
		if got := files(t, dir); len(got) != 1 {
			t.Errorf("%v, want the file until it is due", got)
		}
		c.Move(time.Microsecond)
		rest(t, other)
		if got := files(t, dir); len(got) != 0 {
			t.Errorf("%v, want no file", got)
		}
		if err := e.replace(t.Context(), manifest(t, e), []draft{d}); !errors.Is(err, errLost) {
			t.Errorf("a file that is gone was entered: %v", err)
		}
		once(t, other, all)
	})
}

func viewOf(t *testing.T, e *Engine) *view {
	t.Helper()
	v, err := e.openAll(t.Context(), manifest(t, e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.close)
	return v
}

// Garbage that somebody has begun to delete is deleted by the next one, a while later.
func TestClaimedGarbage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e := open(t, db, dir)
		failing := openOn(t, db, &failingStore{Store: e.Files, remove: errFailing})
		load(t, e, newTraffic().batch(10))
		seal(t, e)
		if err := e.replace(t.Context(), manifest(t, e), nil); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			wait  time.Duration
			fails bool
			left  int
		}{{grace - time.Microsecond, false, 1}, {time.Microsecond, true, 1}, {claimFor - time.Microsecond, false, 1},
			{time.Microsecond, false, 0}} {
			c.Move(step.wait)
			if step.fails {
				if _, err := failing.Step(t.Context()); !errors.Is(err, errFailing) {
					t.Errorf("%v", err)
				}
			}
			rest(t, e)
			if n := len(files(t, dir)); n != step.left {
				t.Errorf("%d files %+v", n, step)
			}
		}
		if left, err := store.Exists(t.Context(), db, "SELECT 1 FROM event_garbage"); left || err != nil {
			t.Error("garbage is left", err)
		}
	})
}

// A file that cannot be deleted stops neither the deletion of other files nor merging.
func TestUndeletableFile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, g := open(t, db, dir), newTraffic()
		failing := &failingStore{Store: e.Files, remove: errFailing}
		e.Files = failing
		for range 2 {
			load(t, e, g.batch(10))
			seal(t, e)
			if err := e.replace(t.Context(), manifest(t, e), nil); err != nil {
				t.Fatal(err)
			}
			c.Move(time.Microsecond)
		}
		all := load(t, e, g.batch(10))
		c.Move(24 * time.Hour)
		if _, err := e.Step(t.Context()); !errors.Is(err, errFailing) {
			t.Errorf("%v", err)
		}
		if m := manifest(t, e); len(m) != 1 || m[0].young {
			t.Errorf("nothing is sealed: %+v", m)
		}
		rest(t, e) // no try too early
		failing.remove = nil
		c.Move(lookEvery)
		rest(t, e)
		if n := len(files(t, dir)); n != 2 {
			t.Errorf("%d files, want that of the manifest and the one that could not be deleted", n)
		}
		c.Move(claimFor)
		rest(t, e)
		tidy(t, e, dir)
		once(t, e, all)
	})
}

// While the segment store is away, young segments stay few and are not written again and
// again; when it is back they become files.
func TestStoreAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, g := open(t, db, dir), newTraffic()
		away := &failingStore{Store: e.Files, put: errFailing}
		e.Files = away
		all := load(t, e, g.batch(10))
		c.Move(24 * time.Hour)
		for n := range 5 * youngFanIn {
			all = append(all, load(t, e, g.batch(3))...)
			if _, err := e.Step(t.Context()); err != nil && !errors.Is(err, errFailing) {
				t.Fatal(err)
			}
			if young := len(manifest(t, e)); young > 4*youngFanIn {
				t.Fatalf("%d young segments after %d batches", young, n)
			}
			c.Move(time.Second)
		}
		once(t, e, all)
		if away.puts < 6 || away.puts > 12 {
			t.Errorf("%d tries in %d s", away.puts, 5*youngFanIn)
		}
		away.put = nil
		c.Move(maxWait)
		rest(t, e)
		if m := manifest(t, e); len(m) != 1 || m[0].young {
			t.Errorf("%d segments, want one file", len(m))
		}
		once(t, e, all)
		c.Move(writeWithin)
		rest(t, e)
		tidy(t, e, dir)
	})
}

// A store that cannot be read for a moment makes no segment one to be left alone.
func TestStoreAwayForReading(t *testing.T) {
	e, g := open(t, storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{}), t.TempDir()), newTraffic()
	away := &failingStore{Store: e.Files}
	var all []int64
	for range fileFanIn {
		all = append(all, load(t, e, g.batch(3))...)
		seal(t, e)
	}
	e.open.close()
	e.open.files, away.open = away, errFailing
	if _, err := e.Step(t.Context()); !errors.Is(err, errFailing) {
		t.Errorf("%v", err)
	}
	away.open = nil
	e.storing.note(nil, 0) // its wait is over
	rest(t, e)
	if n := len(manifest(t, e)); n != 1 {
		t.Errorf("%d segments, want one", n)
	}
	once(t, e, all)
}

// A batch whose positions do not fit its events is refused whole.
func TestUnevenBatch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e, g := open(t, db, t.TempDir()), newTraffic()
		for _, change := range []func(b *clicklog.Batch){
			func(b *clicklog.Batch) { b.Events = b.Events[:4] },
			func(b *clicklog.Batch) { b.Runs[0].Ends = b.Runs[0].Ends[:4] },
		} {
			b := g.batch(5)
			change(b)
			if err := e.Append(t.Context(), b); !errors.Is(err, loaded.ErrUneven) {
				t.Errorf("%v", err)
			}
		}
		once(t, e, nil)
		b := g.batch(5)
		b.Runs = nil // of no log
		once(t, e, load(t, e, b))
	})
}

// A question sees the segments that begin or end at the border of its period.
func TestPeriodBorder(t *testing.T) {
	e, g := open(t, storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{}), t.TempDir()), newTraffic()
	b := g.batch(2)
	b.Events[0].At, b.Events[1].At = storetest.Start, storetest.Start+5
	load(t, e, b)
	for _, layout := range []string{"young", "sealed"} {
		for _, test := range []struct{ from, to, want clock.Instant }{
			{-1, 0, 0}, {0, 1, 1}, {1, 5, 0}, {1, 6, 1}, {5, 6, 1}, {6, 9, 0}, {0, 6, 2},
		} {
			f := eventstore.Filter{AppID: app, Start: storetest.Start + test.from, End: storetest.Start + test.to}
			rows, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: f})
			if err != nil || rows[0].Events != int64(test.want) {
				t.Errorf("%s, %+v: %+v, %v", layout, test, rows, err)
			}
		}
		seal(t, e)
	}
}

// An event that came twice without a position in a log is there once after merging.
func TestMergeKnowsEvents(t *testing.T) {
	e, g := open(t, storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{}), t.TempDir()), newTraffic()
	b := g.batch(20)
	b.Runs = nil
	all := load(t, e, b)
	load(t, e, b, &clicklog.Batch{Events: append(b.Events[5:9:9], b.Events[5:9]...)})
	seal(t, e)
	once(t, e, all)
}

// Read goes through apps byte by byte, whatever the order of the database is.
func TestReadOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e, b := open(t, db, t.TempDir()), newTraffic().batch(4)
		for i, id := range []string{"b", "_", "B", "a"} {
			b.Events[i].Link.AppID = id
		}
		load(t, e, b)
		var got []string
		appID := ""
		var place *eventstore.Place
		for page := []clicklog.Event{{}}; len(page) > 0; {
			var err error
			if page, err = e.Read(t.Context(), appID, place, 1); err != nil {
				t.Fatal(err)
			}
			for i := range page {
				appID, place = page[i].Link.AppID, &eventstore.Place{At: page[i].At, ID: page[i].ID}
				got = append(got, appID)
			}
		}
		if want := []string{"B", "_", "a", "b"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
