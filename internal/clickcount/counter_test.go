package clickcount

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// process is what a process has of a link's clicks.
type process struct {
	*Counter
	t   testing.TB
	log *clicklog.Log
}

// start opens a process on a folder of click logs.
func start(t testing.TB, db *store.DB, dir string) *process {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	log, err := clicklog.Open(dir, logger)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{New(db, log.Inherited, logger), t, log}
	t.Cleanup(p.end)
	return p
}

// end is a crash as far as the clicks are concerned that are not loaded: they
// stay in the log.
func (p *process) end() {
	p.t.Helper()
	if err := p.log.Close(); err != nil {
		p.t.Error(err)
	}
}

// click is a visit of a link; false when it has no click left.
func (p *process) click(link string, limit int64) bool {
	p.t.Helper()
	taken, err := p.Take(context.Background(), link, limit)
	if err != nil {
		p.t.Error(err)
	}
	if taken {
		p.write(link, true)
	}
	return taken
}

func (p *process) write(link string, limited bool) {
	p.t.Helper()
	e := clicklog.Event{At: storetest.Start, Type: clicklog.Click, Link: clicklog.Link{ID: link, AppID: "a"},
		Limited: limited}
	if err := p.log.Append(&e); err != nil {
		p.t.Error(err)
	}
}

// next returns the clicks that are not loaded.
func (p *process) next() *clicklog.Batch {
	p.t.Helper()
	b, err := p.log.Next(10_000)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// load counts what is in the log.
func (p *process) load() {
	p.t.Helper()
	b := p.next()
	if err := p.Count(context.Background(), b); err != nil {
		p.t.Fatal(err)
	}
	if err := p.log.Done(b); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) lookNow() {
	p.t.Helper()
	if err := p.look(context.Background()); err != nil {
		p.t.Fatal(err)
	}
}

// knows fails unless the process knows a number of clicks.
func (p *process) knows(link string, want int64) {
	p.t.Helper()
	if got, err := p.Clicks(context.Background(), link); err != nil || got != want {
		p.t.Errorf("%s: %d clicks, %v; want %d", link, got, err, want)
	}
}

// stored returns the number in the database.
func stored(t testing.TB, db *store.DB, link string) int64 {
	t.Helper()
	n, err := store.One(context.Background(), db, store.Value[int64], `SELECT COALESCE(SUM(clicks), 0) FROM click_count
		WHERE link_id = ?`, link)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func rename(t testing.TB, db *store.DB, from, to string) {
	t.Helper()
	if _, err := db.Exec(context.Background(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
		t.Fatal(err)
	}
}

// TestConcurrent has many more visitors than clicks, while clicks are counted
// and the numbers looked at.
func TestConcurrent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		p := start(t, db, t.TempDir())
		const visitors, limit = 200, 50
		var taken atomic.Int64
		var visits, loading sync.WaitGroup
		stop := make(chan struct{})
		for _, work := range []func(){p.load, p.lookNow} {
			loading.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						work()
					}
				}
			})
		}
		for range visitors {
			visits.Go(func() {
				if p.click("x", limit) {
					taken.Add(1)
				}
			})
		}
		visits.Wait()
		close(stop)
		loading.Wait()
		p.load()
		if taken.Load() != limit || stored(t, db, "x") != limit {
			t.Errorf("%d taken, %d stored, want %d", taken.Load(), stored(t, db, "x"), limit)
		}
		p.lookNow()
		p.knows("x", limit)
	})
}

// A process dies with clicks that are not counted; the next one knows nothing
// until they are, and then lets through exactly the rest.
func TestRestart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := t.TempDir()
		p := start(t, db, dir)
		p.click("x", 5)
		p.load()
		p.click("x", 5)
		p.click("x", 5)
		p.end()
		p = start(t, db, dir)
		for range 2 {
			if _, err := p.Clicks(t.Context(), "x"); !errors.Is(err, ErrStarting) {
				t.Fatalf("while clicks are left: %v", err)
			}
			if _, err := p.Take(t.Context(), "x", 5); !errors.Is(err, ErrStarting) {
				t.Fatalf("while clicks are left: %v", err)
			}
		}
		p.load()
		p.knows("x", 3)
		for i, want := range []bool{true, true, false, false} {
			if got := p.click("x", 5); got != want {
				t.Errorf("click %d: %v", i, got)
			}
			p.load()
		}
		if n := stored(t, db, "x"); n != 5 {
			t.Errorf("%d stored", n)
		}
	})
}

// A process dies after the commit and before the log knows: the clicks come
// again and count once. Those without a limit never do.
func TestRedelivery(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := t.TempDir()
		p := start(t, db, dir)
		const clicks = 137
		for range clicks {
			p.click("x", 1000)
			p.click("y", 1000)
			p.write("x", false)
		}
		if err := p.Count(t.Context(), p.next()); err != nil {
			t.Fatal(err)
		}
		p.end()
		p = start(t, db, dir)
		p.load()
		for _, link := range []string{"x", "y"} {
			p.knows(link, clicks)
			if n := stored(t, db, link); n != clicks {
				t.Errorf("%s: %d stored, want %d", link, n, clicks)
			}
		}
	})
}

// A running process takes over what another left: those clicks are not its own.
func TestTakeOver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := t.TempDir()
		p, other := start(t, db, dir), start(t, db, dir)
		for range 3 {
			p.click("x", 10)
			other.click("x", 10)
		}
		left, own := other.next(), p.next()
		b := &clicklog.Batch{Events: slices.Concat(left.Events, own.Events), Inherited: len(left.Events),
			Runs: slices.Concat(left.Runs, own.Runs)}
		if err := p.Count(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		p.knows("x", 6)
		p.click("x", 10)
		p.lookNow()
		p.knows("x", 7)
	})
}

func TestTwoProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := t.TempDir() // shared: neither takes the living other's clicks
		a, b := start(t, db, dir), start(t, db, dir)
		for range 3 { // at the same moment: neither knows of the other
			if !a.click("x", 5) || !b.click("x", 5) {
				t.Error("a click that each alone would take")
			}
		}
		a.load()
		b.load()
		a.lookNow()
		b.lookNow()
		for _, p := range []*process{a, b} {
			p.knows("x", 6)
			if p.click("x", 5) {
				t.Error("one more although both know")
			}
		}
		// Later, and with clicks that are not counted yet.
		if !a.click("x", 10) || !b.click("x", 10) {
			t.Error("a higher limit does not help")
		}
		b.load()
		a.knows("x", 7)
		a.lookNow()
		a.knows("x", 8)
		a.load()
		a.lookNow()
		a.knows("x", 8)
		// One dies and the other takes over what it left.
		a.click("x", 10)
		a.end()
		c := start(t, db, dir)
		c.load()
		b.lookNow()
		b.knows("x", 9)
		c.knows("x", 9)
	})
}

func TestGiveBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		p := start(t, db, t.TempDir())
		for range 2 {
			if taken, err := p.Take(t.Context(), "x", 1); !taken || err != nil {
				t.Fatal(taken, err)
			}
			p.knows("x", 1)
			p.GiveBack("x")
			p.knows("x", 0)
		}
	})
}

// TestDatabaseAway takes the tables away: what is in memory goes on, and in the
// end every click is counted once.
func TestDatabaseAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		p := start(t, db, t.TempDir())
		p.click("x", 4)
		p.load()
		rename(t, db, "click_count", "away")
		if _, err := p.Clicks(t.Context(), "y"); err == nil {
			t.Error("a number that nobody knows")
		}
		if err := p.look(t.Context()); err == nil {
			t.Error("looked at nothing")
		}
		p.click("x", 4)
		p.click("x", 4)
		if err := p.Count(t.Context(), p.next()); err == nil {
			t.Error("counted nowhere")
		}
		if !p.click("x", 4) || p.click("x", 4) {
			t.Error("the limit does not hold")
		}
		rename(t, db, "away", "click_count")
		p.lookNow()
		p.knows("x", 4)
		p.knows("y", 0)
		p.load()
		p.lookNow()
		p.knows("x", 4)
		if n := stored(t, db, "x"); n != 4 {
			t.Errorf("%d stored", n)
		}
	})
}

// TestUnsure loses the answer of a commit: clicks that the database has counted
// and the process not must not count double.
func TestUnsure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		p := start(t, db, t.TempDir())
		for range 3 {
			p.click("x", 5)
		}
		// Committed without p's knowledge, which sees just an error.
		if err := New(db, p.inherited, slog.Default()).Count(t.Context(), p.next()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		rename(t, db, "click_loaded", "away")
		if err := p.Count(ctx, p.next()); err == nil {
			t.Error("no error")
		}
		rename(t, db, "away", "click_loaded")
		p.lookNow()
		p.knows("x", 3)
		p.load()
		p.lookNow()
		p.knows("x", 3)
	})
}

func TestForget(t *testing.T) {
	db := openSQLite(t)
	p := start(t, db, t.TempDir())
	p.click("counted", 5)
	p.load()
	p.click("uncounted", 5)
	p.click("used", 5)
	p.load()
	p.click("uncounted", 5)
	for looks := range 1201 {
		if looks == 1200 && p.links["counted"] == nil {
			t.Error("a link is forgotten after 1,200 looks")
		}
		p.lookNow()
		p.knows("used", 1)
	}
	for link, want := range map[string]bool{"counted": false, "uncounted": true, "used": true} {
		if got := p.links[link] != nil; got != want {
			t.Errorf("%s is held: %v", link, got)
		}
	}
	p.knows("counted", 1)
	p.knows("uncounted", 2)
}

// TestManyLinks needs more than one statement to look.
func TestManyLinks(t *testing.T) {
	db := openSQLite(t)
	dir := t.TempDir()
	p, other := start(t, db, dir), start(t, db, dir)
	for i := range 201 {
		p.knows(fmt.Sprint(i), 0)
		other.click(fmt.Sprint(i), 5)
	}
	other.load()
	p.lookNow()
	for i := range 201 {
		p.knows(fmt.Sprint(i), 1)
	}
}

// TestWaiters has many ask for one link at once.
func TestWaiters(t *testing.T) {
	p := start(t, openSQLite(t), t.TempDir())
	for range 2 { // until all are waiting on one read
		p.slots <- struct{}{}
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { p.knows("x", 0) })
	}
	for range 2 {
		<-p.slots
	}
	wg.Wait()
	if len(p.loads) != 0 || len(p.links) != 1 {
		t.Errorf("%d reads are left, %d links held", len(p.loads), len(p.links))
	}
	// Whoever waits for another's read may give up.
	p.loads["y"] = &load{done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Clicks(ctx, "y"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestRun looks at another's clicks by itself.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openSQLite(t)
		dir := t.TempDir()
		p, other := start(t, db, dir), start(t, db, dir)
		p.knows("x", 0)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		other.click("x", 5)
		other.load()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		p.knows("x", 1)
		cancel()
		running.Wait()
	})
}

// TestAlways does at random what can happen to one process, and holds it to a
// count kept beside it.
func TestAlways(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		const seed, limit = 20261120, 40
		r := rand.New(rand.NewPCG(seed, seed))
		dir := t.TempDir()
		p, clicks := start(t, db, dir), map[string]int64{}
		for step := range 1000 {
			switch r.IntN(20) {
			default:
				link := fmt.Sprint("link", r.IntN(15))
				taken, err := p.Take(t.Context(), link, limit)
				if errors.Is(err, ErrStarting) && p.inherited() {
					continue
				}
				if err != nil || taken != (clicks[link] < limit) {
					t.Fatalf("seed %d, step %d: taken %v, %v after %d clicks", seed, step, taken, err, clicks[link])
				}
				if taken && r.IntN(10) == 0 {
					p.GiveBack(link)
				} else if taken {
					p.write(link, true)
					clicks[link]++
				}
			case 0, 1:
				p.load()
			case 2:
				p.lookNow()
			case 3:
				if r.IntN(5) > 0 {
					continue
				}
				for range 1200 { // which takes ten minutes
					p.lookNow()
				}
			case 4: // killed, perhaps between commit and acknowledgement
				if r.IntN(2) == 0 {
					if err := p.Count(t.Context(), p.next()); err != nil {
						t.Fatal(err)
					}
				}
				p.end()
				p = start(t, db, dir)
			case 5:
				rename(t, db, "click_count", "away")
				if b := p.next(); p.Count(t.Context(), b) == nil && len(b.Events) > 0 {
					t.Fatal("counted nowhere")
				}
				rename(t, db, "away", "click_count")
			}
		}
		p.load()
		for link, n := range clicks {
			p.knows(link, n)
			if got := stored(t, db, link); got != n {
				t.Errorf("%s: %d stored, want %d", link, got, n)
			}
		}
	})
}

func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		p := start(t, db, t.TempDir())
		for range 3 {
			p.click("gone", 5)
			p.click("also gone", 5)
		}
		p.load()
		sweep := func(want int64) {
			t.Helper()
			if n, err := Sweep(t.Context(), db, 4); err != nil || n != want {
				t.Errorf("%d swept, %v; want %d", n, err, want)
			}
		}
		sweep(2) // the numbers: no link has these ids
		for _, after := range []struct {
			move time.Duration
			logs int
		}{{7 * 24 * time.Hour, 1}, {time.Microsecond, 0}} {
			now.Move(after.move)
			sweep(0)
			if known, err := loaded.Clicks.All(t.Context(), db); err != nil || len(known) != after.logs {
				t.Errorf("after %s the positions are %v, %v", after.move, known, err)
			}
		}
	})
}

func openSQLite(t testing.TB) *store.DB {
	c := &clock.Clock{}
	c.Set(storetest.Start)
	return storetest.Open(t, storetest.Address(t, "sqlite"), c)
}

func BenchmarkTake(b *testing.B) {
	p := start(b, openSQLite(b), b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		p.Take(b.Context(), "x", 1<<62)
	}
}

// TestGoneBack lets an older copy take the place of the database below two processes: no
// visitor is let in beyond the limit, also by processes that start afterwards.
func TestGoneBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := t.TempDir()
		a, b := start(t, db, dir), start(t, db, dir)
		clicks := func(p *process, n int) {
			t.Helper()
			for range n {
				for _, link := range []string{"x", "new"} {
					if !p.click(link, 12) {
						t.Error("turned away too early")
					}
				}
			}
			p.load()
		}
		exec := func(statement string) {
			t.Helper()
			if _, err := db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		clicks(a, 1)
		clicks(b, 2)
		clicks(a, 4)
		clicks(b, 3)
		a.lookNow()
		b.lookNow()
		// Seven clicks of x are lost, all of the other, and their marks.
		exec("UPDATE click_count SET clicks = 3 WHERE link_id = 'x'")
		exec("DELETE FROM click_count WHERE link_id = 'new'")
		exec("DELETE FROM click_loaded")
		for _, link := range []string{"x", "new"} {
			a.knows(link, 10)
			a.lookNow()
			a.knows(link, 10)
			b.lookNow()
			b.knows(link, 10)
			if n := stored(t, db, link); n != 10 {
				t.Errorf("%s: %d stored", link, n)
			}
		}
		clicks(a, 1)
		b.lookNow()
		clicks(b, 1)
		a.lookNow()
		fresh := start(t, db, dir)
		for _, p := range []*process{a, b, fresh} {
			for _, link := range []string{"x", "new"} {
				p.knows(link, 12)
				if p.click(link, 12) {
					t.Errorf("%s: one more than its limit", link)
				}
			}
		}
	})
}

// TestGoneBackMeanwhile counts clicks after the loss and before the next look.
func TestGoneBackMeanwhile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		p := start(t, db, t.TempDir())
		for range 5 {
			p.click("x", 9)
		}
		p.load()
		if _, err := db.Exec(t.Context(), "UPDATE click_count SET clicks = 1"); err != nil {
			t.Fatal(err)
		}
		p.click("x", 9)
		for _, counted := range []int64{5, 6} { // the sixth is in memory only at first
			p.lookNow()
			p.knows("x", 6)
			if n := stored(t, db, "x"); n != counted {
				t.Errorf("%d stored, want %d", n, counted)
			}
			if counted == 5 {
				if _, err := db.Exec(t.Context(), "UPDATE click_count SET clicks = 2"); err != nil {
					t.Fatal(err)
				}
				p.load()
				p.knows("x", 6)
			}
		}
		// Another process was faster, and knew more.
		if err := p.mend(t.Context(), []number{{"x", 4}}); err != nil || stored(t, db, "x") != 6 {
			t.Errorf("%d stored, %v", stored(t, db, "x"), err)
		}
		known := tally{others: 3, own: 4, counted: 2}
		for n, want := range map[int64]bool{4: false, 5: true} {
			if known.learn(n) != want || known.others != 3 {
				t.Errorf("%d in the database, 5 known: %+v", n, known)
			}
		}
	})
}

// A process that mends a number which another one has mended and counted further leaves
// alone whether the clicks are used up.
func TestMendedByAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		rename(t, db, "link", "away")
		for _, statement := range []string{
			"CREATE TABLE link (id TEXT, max_clicks BIGINT, used_up BOOLEAN)", "INSERT INTO link VALUES ('x', 12, FALSE)",
			"INSERT INTO click_count VALUES ('x', 5)",
		} {
			if _, err := db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		p := start(t, db, t.TempDir())
		for _, step := range []struct {
			mended int64
			usedUp bool
		}{{10, false}, {13, true}, {11, true}} {
			if err := p.mend(t.Context(), []number{{"x", step.mended}}); err != nil {
				t.Fatal(err)
			}
			if usedUp, err := store.One(t.Context(), db, store.Value[bool], "SELECT used_up FROM link"); err != nil ||
				usedUp != step.usedUp {
				t.Errorf("after %d clicks used up: %t, %v", step.mended, usedUp, err)
			}
		}
	})
}

// The number of a link that is gone goes; that of another stays.
func TestSweepKeepsLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		rename(t, db, "link", "away")
		for _, statement := range []string{"CREATE TABLE link (id TEXT)", "INSERT INTO link VALUES ('kept')",
			"INSERT INTO click_count VALUES ('kept', 5), ('gone', 5)"} {
			if _, err := db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := Sweep(t.Context(), db, 10); n != 1 || err != nil {
			t.Errorf("%d swept, %v", n, err)
		}
		if kept, gone := stored(t, db, "kept"), stored(t, db, "gone"); kept != 5 || gone != 0 {
			t.Errorf("%d clicks are kept, %d of the link that is gone", kept, gone)
		}
	})
}

// TestGoneBackUnused has a link that nobody asked for since some looks: its number is
// mended when the process learns that the database went back.
func TestGoneBackUnused(t *testing.T) {
	db := openSQLite(t)
	p := start(t, db, t.TempDir())
	p.click("x", 5)
	p.load()
	for range 5 {
		p.lookNow()
	}
	if _, err := db.Exec(t.Context(), "DELETE FROM click_count"); err != nil {
		t.Fatal(err)
	}
	p.lookNow()
	if n := stored(t, db, "x"); n != 0 {
		t.Errorf("%d stored: the link is in use", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	storetest.Eventually(t, "the number is mended", func() bool {
		db.NewHistory()
		return stored(t, db, "x") == 1
	})
	cancel()
	running.Wait()
}

// A link is used up with its last click, and no other one is.
func TestUsedUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		rename(t, db, "link", "away")
		for _, statement := range []string{
			"CREATE TABLE link (id TEXT, max_clicks BIGINT, used_up BOOLEAN)",
			"INSERT INTO link VALUES ('x', 3, FALSE), ('small', 1, FALSE), ('unlimited', NULL, FALSE)",
		} {
			if _, err := db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		p := start(t, db, t.TempDir())
		for clicks := 1; clicks <= 4; clicks++ {
			p.write("x", true)
			p.write("unlimited", true)
			p.load()
			usedUp, err := store.All(t.Context(), db, store.Value[bool], "SELECT used_up FROM link ORDER BY id")
			if want := []bool{false, false, clicks >= 3}; err != nil || !slices.Equal(usedUp, want) {
				t.Errorf("after %d clicks: %v, %v; want %v", clicks, usedUp, err, want)
			}
		}
	})
}
