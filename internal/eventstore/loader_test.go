package eventstore_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// batchSize is that of the loaders of these tests.
const batchSize = 2048

// countNone is for logs without limited clicks.
func countNone(context.Context, *clicklog.Batch) error { return nil }

func openLog(t testing.TB, dir string) *clicklog.Log {
	t.Helper()
	l, err := clicklog.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func click(t testing.TB, l *clicklog.Log, n int) {
	t.Helper()
	for range n {
		e := clicklog.Event{At: storetest.Start, Type: clicklog.Click, Link: clicklog.Link{ID: "one", AppID: "a"}}
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
}

// clicks counts what click has made.
func clicks(t testing.TB, s eventstore.Engine) int64 {
	t.Helper()
	rows, err := eventstore.Count(t.Context(), s, eventstore.Query{Filter: eventstore.Filter{AppID: "a", Start: storetest.Start,
		End: storetest.Start + 1}})
	if err != nil {
		t.Fatal(err)
	}
	return rows[0].Clicks
}

// A stopping loader takes along what is in the log.
func TestLoaderDrainsAtTheEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s, l := database.Open(db), openLog(t, t.TempDir())
		click(t, l, 5000)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		eventstore.NewLoader(l, s.Append, countNone, batchSize, slog.New(slog.DiscardHandler)).Run(ctx)
		if got := clicks(t, s); got != 5000 ||
			l.Backlog() != 0 {
			t.Fatalf("%d clicks, backlog %d; want 5000, 0", got, l.Backlog())
		}
	})
}

// The process dies after the commit and before the log knows: the events come
// again and count once.
func TestCrashBetweenCommitAndDone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := t.TempDir()
		s, l := database.Open(db), openLog(t, dir)
		click(t, l, 300)
		b, err := l.Next(200)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		s, l = database.Open(db), openLog(t, dir)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		eventstore.NewLoader(l, s.Append, countNone, batchSize, slog.New(slog.DiscardHandler)).Run(ctx)
		if got := clicks(t, s); got != 300 {
			t.Fatalf("%d clicks, want 300", got)
		}
	})
}

// A database that refuses costs no event and no part of one is stored.
func TestFailingDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s, l := database.Open(db), openLog(t, t.TempDir())
		click(t, l, 10)
		run := func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			eventstore.NewLoader(l, s.Append, countNone, batchSize, slog.New(slog.DiscardHandler)).Run(ctx)
		}
		rename := func(from, to string) {
			if _, err := db.Exec(context.Background(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("event", "event_away")
		run()
		if l.Backlog() == 0 {
			t.Fatal("the log gave up events that were not stored")
		}
		// Numbers given in the failed transaction must not be remembered.
		if found, err := store.Exists(context.Background(), db, "SELECT 1 FROM event_app"); err != nil || found {
			t.Fatalf("rows of a failed transaction: %v, %v", found, err)
		}
		rename("event_away", "event")
		run()
		if got := clicks(t, s); got != 10 ||
			l.Backlog() != 0 {
			t.Fatalf("%d clicks, backlog %d; want 10, 0", got, l.Backlog())
		}
	})
}

// What cannot be counted is not given up, and is counted once.
func TestLoaderCounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s, l := database.Open(db), openLog(t, t.TempDir())
		click(t, l, 10)
		counted, broken := 0, true
		count := func(_ context.Context, b *clicklog.Batch) error {
			if broken {
				return errors.New("away")
			}
			counted += len(b.Events)
			return nil
		}
		for _, want := range []int{0, 10, 10} {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			loader := eventstore.NewLoader(l, s.Append, count, batchSize, slog.New(slog.DiscardHandler))
			if broken {
				if _, err := loader.Move(t.Context()); err == nil || !strings.Contains(err.Error(), "away") {
					t.Errorf("moved without being counted: %v", err)
				}
			}
			loader.Run(ctx)
			if counted != want || (l.Backlog() == 0) == broken {
				t.Fatalf("%d counted, want %d; backlog %d", counted, want, l.Backlog())
			}
			broken = false
		}
		if got := clicks(t, s); got != 10 {
			t.Fatalf("%d clicks, want 10", got)
		}
	})
}

// The loader lets clicks come together, but does not wait while full batches are left: no
// time passes here.
func TestLoaderDoesNotWaitForFullBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, t.TempDir())
		click(t, l, 3*batchSize+1)
		var loaded []int
		load := func(_ context.Context, b *clicklog.Batch) error {
			loaded = append(loaded, len(b.Events))
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			eventstore.NewLoader(l, load, countNone, batchSize, slog.New(slog.DiscardHandler)).Run(ctx)
		})
		synctest.Wait()
		if want := []int{batchSize, batchSize, batchSize, 1}; !slices.Equal(loaded, want) {
			t.Errorf("loaded %d, want %d", loaded, want)
		}
		cancel()
		running.Wait()
		l.Close()
	})
}

// A loader that is stopped takes along what it can in five seconds.
func TestLoaderDrainsForFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, t.TempDir())
		click(t, l, 10*batchSize)
		batches := 0
		load := func(context.Context, *clicklog.Batch) error {
			batches++
			time.Sleep(900 * time.Millisecond)
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		eventstore.NewLoader(l, load, countNone, batchSize, slog.New(slog.DiscardHandler)).Run(ctx)
		if batches != 6 { // the last one began after 4.5 s
			t.Errorf("%d batches were loaded", batches)
		}
		l.Close()
	})
}

// Whatever is not two capital letters is no country.
func TestCountry(t *testing.T) {
	for code, want := range map[string]string{"AZ": "AZ", "ZA": "ZA", "BR": "BR", "A[": "ZZ", "[A": "ZZ", "@A": "ZZ", "A@": "ZZ",
		"br": "ZZ", "BRA": "ZZ", "B": "ZZ", "": "ZZ"} {
		if got := eventstore.Country(code); got != want {
			t.Errorf("%q is the country %q, want %q", code, got, want)
		}
	}
}

// While the store fails, the loader waits longer and longer up to five
// seconds, then moves everything, once.
func TestLoaderRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, t.TempDir())
		var mu sync.Mutex
		var tries []time.Time
		stored, fail := 0, true
		load := func(_ context.Context, b *clicklog.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, time.Now())
			if fail {
				return errors.New("away")
			}
			stored += len(b.Events)
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			eventstore.NewLoader(l, load, countNone, batchSize, slog.New(slog.DiscardHandler)).Run(ctx)
		}()
		click(t, l, 20)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		mu.Lock()
		var waits []time.Duration
		for i := range tries[1:] {
			waits = append(waits, tries[i+1].Sub(tries[i]))
		}
		fail = false
		mu.Unlock()
		want := []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(waits, want) {
			t.Errorf("waits %v, want %v", waits, want)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		mu.Lock()
		if stored != 20 || l.Backlog() != 0 {
			t.Errorf("%d stored, backlog %d; want 20, 0", stored, l.Backlog())
		}
		mu.Unlock()
		// A click on an idle loader arrives within the time it gathers.
		click(t, l, 3)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		mu.Lock()
		if stored != 23 {
			t.Errorf("%d stored, want 23", stored)
		}
		mu.Unlock()
		cancel()
		<-ended
		l.Close()
	})
}

// A log that cannot be read stays back, and the loader says since when.
func TestLoaderWithUnreadableLog(t *testing.T) {
	for later, moved := range map[string]int{"": 3, ".gone": 0} {
		loadsUnreadable(t, later, moved)
	}
}

// loadsUnreadable loads from a log whose files cannot be opened, and have another name later.
func loadsUnreadable(t *testing.T, later string, moved int) {
	t.Helper()
	dir := t.TempDir()
	l := openLog(t, dir)
	click(t, l, 3)
	loader := eventstore.NewLoader(l, countNone, countNone, batchSize, slog.New(slog.DiscardHandler))
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	rename := func(from, to string) {
		for _, f := range files {
			if err := os.Rename(f+from, f+to); err != nil {
				t.Fatal(err)
			}
		}
	}
	rename("", ".away")
	for _, f := range files { // a link to itself cannot be opened
		if err := os.Symlink(f, f); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := loader.Move(t.Context()); err == nil {
		t.Fatalf("%d events of a log that is away", n)
	}
	since := loader.Oldest()
	if since == 0 {
		t.Error("nothing stays back")
	}
	if _, err := loader.Move(t.Context()); err == nil || loader.Oldest() != since {
		t.Errorf("%v; since %s and then since %s", err, since, loader.Oldest())
	}
	rename("", ".link")
	rename(".away", later)
	if n, err := loader.Move(t.Context()); n != moved || err != nil || loader.Oldest() != 0 {
		t.Errorf("%d, %v; %s stays back", n, err, loader.Oldest())
	}
}

// A file of events that are stored, and which cannot be removed, is told; the events are not moved again.
func TestLoaderCannotRemove(t *testing.T) {
	dir := t.TempDir()
	ended := openLog(t, dir)
	click(t, ended, 3)
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
	l, counted := openLog(t, dir), 0
	loader := eventstore.NewLoader(l, countNone, func(_ context.Context, b *clicklog.Batch) error {
		counted += len(b.Events)
		files, err := filepath.Glob(filepath.Join(dir, b.Runs[0].Log, "1.*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		return errors.Join(os.Remove(files[0]), os.MkdirAll(filepath.Join(files[0], "x"), 0o700))
	}, batchSize, slog.New(slog.DiscardHandler))
	if n, err := loader.Move(t.Context()); n != 0 || err == nil || loader.Oldest() != storetest.Start {
		t.Errorf("%d, %v; %s stays back", n, err, loader.Oldest())
	}
	if n, err := loader.Move(t.Context()); n != 0 || err != nil || counted != 3 || loader.Oldest() != 0 {
		t.Errorf("%d, %v; %d are counted, %s stays back", n, err, counted, loader.Oldest())
	}
}

// A batch of events that are not stored is counted, and nothing is appended.
func TestLoaderOfUnstoredEvents(t *testing.T) {
	l, counted := openLog(t, t.TempDir()), 0
	for range 3 {
		if err := l.Append(&clicklog.Event{At: storetest.Start, Type: clicklog.Click, Limited: true, Unstored: true}); err != nil {
			t.Fatal(err)
		}
	}
	loader := eventstore.NewLoader(l, func(context.Context, *clicklog.Batch) error {
		t.Error("a batch without events is appended")
		return nil
	}, func(_ context.Context, b *clicklog.Batch) error {
		counted += len(b.Events)
		return nil
	}, batchSize, slog.New(slog.DiscardHandler))
	if n, err := loader.Move(t.Context()); n != 3 || counted != 3 || err != nil || l.Backlog() != 0 {
		t.Errorf("%d events are moved, %d counted, %v, backlog %d", n, counted, err, l.Backlog())
	}
}
