package segments

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A damaged or missing file fails the questions that need it, by name, and no others;
// merging leaves it alone.
func TestDamage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		for what, damage := range map[string]func(path string) error{
			"missing": os.Remove,
			"short":   func(path string) error { return os.Truncate(path, 100) },
			"changed": func(path string) error {
				content, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				content[len(content)/2] ^= 1
				return os.WriteFile(path, content, 0o600)
			},
		} {
			t.Run(what, func(t *testing.T) {
				if _, err := db.Exec(t.Context(), "DELETE FROM event_segment"); err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				e, g := open(t, db, dir), newTraffic()
				g.at = storetest.Start.Add(-24 * time.Hour)
				load(t, e, &clicklog.Batch{Events: g.batch(10).Events})
				seal(t, e)
				name := files(t, dir)[0]
				g.at = storetest.Start.Add(-time.Hour)
				load(t, e, &clicklog.Batch{Events: g.batch(10).Events})
				seal(t, e)
				e = open(t, db, dir)
				if err := damage(filepath.Join(dir, "events", name)); err != nil {
					t.Fatal(err)
				}
				_, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: ever})
				var unreadable *fileError
				if !errors.As(err, &unreadable) || fileName(unreadable.id) != name {
					t.Errorf("%v; want an error that names %s", err, name)
				}
				today := ever
				today.Start = storetest.Start.Add(-2 * time.Hour)
				rows, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: today})
				if err != nil || rows[0].Events != 10 {
					t.Errorf("%+v, %v", rows, err)
				}
				for range fileFanIn {
					load(t, e, &clicklog.Batch{Events: g.batch(10).Events})
					seal(t, e)
				}
				if _, err := e.Step(t.Context()); !errors.As(err, &unreadable) {
					t.Errorf("the first step: %v", err)
				}
				rest(t, e)
				if n := len(manifest(t, e)); n != 2 {
					t.Errorf("%d segments, want the damaged one and another", n)
				}
			})
		}
	})
}

var errFailing = errors.New("the store fails")

// failingStore is a store that refuses to do some things.
type failingStore struct {
	blob.Store
	// put and remove are the errors of Put and Delete; open is that of Open.
	put, remove, open error
	puts              int
	// after is called after a Put, unless it is nil.
	after func()
}

func (s *failingStore) Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error {
	if s.puts++; s.put != nil {
		return s.put
	}
	err := s.Store.Put(ctx, name, contentType, r, size)
	if s.after != nil {
		s.after()
	}
	return err
}

func (s *failingStore) Delete(ctx context.Context, name string) error {
	if s.remove != nil {
		return s.remove
	}
	return s.Store.Delete(ctx, name)
}

func (s *failingStore) Open(ctx context.Context, name string) (blob.Object, error) {
	if s.open != nil {
		return nil, s.open
	}
	return s.Store.Open(ctx, name)
}

// Sweep deletes what is from before an instant, to the microsecond, in young segments
// and in files; the rest stays as it is.
func TestSweepBorder(t *testing.T) {
	for name, moved := range layouts {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
				e, g := open(t, db, t.TempDir()), newTraffic()
				b := g.batch(9)
				for i := range b.Events {
					b.Events[i].At = storetest.Start + clock.Instant(i/3)
				}
				all := load(t, e, b)
				moved(t, e, 3)
				for i, want := range []int64{0, 3, 3, 3, 0} {
					n, err := e.Sweep(t.Context(), storetest.Start+clock.Instant(i), 1000)
					if err != nil || n != want {
						t.Errorf("%d deleted at %d, %v; want %d", n, i, err, want)
					}
					once(t, e, all[min(3*i, len(all)):])
				}
			})
		})
	}
}

// What is remembered of a log goes when its events are past the retention anyway, and not
// when all events are deleted.
func TestSweepLoaded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e, g := open(t, db, t.TempDir()), newTraffic()
		b := g.batch(5)
		load(t, e, b)
		for _, step := range []struct {
			wait   time.Duration
			before clock.Instant
			rows   int
		}{
			{0, storetest.Start.Add(time.Hour), 1}, {400 * 24 * time.Hour, storetest.Start + 1, 1},
			{time.Microsecond, storetest.Start, 1}, {0, storetest.Start + 1, 0},
		} {
			c.Move(step.wait)
			if _, err := e.Sweep(t.Context(), step.before, 10); err != nil {
				t.Fatal(err)
			}
			logs, err := store.All(t.Context(), db, store.Value[string], "SELECT log FROM event_loaded")
			if err != nil || len(logs) != step.rows {
				t.Errorf("%v, %v; want %d", logs, err, step.rows)
			}
		}
	})
}

// Erase tells when no reader can have the events of a file any more.
func TestEraseGone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		e, g := open(t, db, t.TempDir()), newTraffic()
		b := g.batch(40)
		for i := range b.Events {
			b.Events[i].Install = int64(1 + i%4)
		}
		load(t, e, b)
		for _, step := range []struct {
			install int64
			seal    bool
			want    int64
			gone    clock.Instant
		}{
			{1, false, 10, c.Now().Add(reading)}, {2, true, 10, c.Now().Add(grace)}, {2, true, 0, c.Now().Add(grace)},
		} {
			if step.seal {
				seal(t, e)
			}
			n, gone, err := e.Erase(t.Context(), eventstore.Erasure{Install: step.install})
			if n != step.want || gone != step.gone || err != nil {
				t.Errorf("%+v: %d until %s, %v", step, n, gone, err)
			}
		}
	})
}

// A merge that has read what is erased meanwhile leaves no file with it: it stores none, or
// Erase tells when that is gone, which is soon.
func TestEraseMeanwhile(t *testing.T) {
	for _, when := range []string{"before it is stored", "after"} {
		t.Run(when, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
				dir := t.TempDir()
				e, other, b := open(t, db, dir), open(t, db, dir), newTraffic().batch(10)
				b.Events[3].Install = 4711
				load(t, e, b)
				var gone clock.Instant
				erase := func() {
					var n int64
					var err error
					if n, gone, err = other.Erase(t.Context(), eventstore.Erasure{Install: 4711}); n != 1 || err != nil {
						t.Errorf("%d erased, %v", n, err)
					}
				}
				want := c.Now().Add(reading)
				stored := &failingStore{Store: e.Files}
				e.Files = stored
				during := sync.OnceFunc(erase)
				if when == "after" {
					want = c.Now().Add(writeWithin)
					stored.after, during = erase, func() {}
				}
				if _, err := e.rewrite(t.Context(), manifest(t, e), false, func(*segment.Event) bool {
					during()
					return true
				}); !lost(err) {
					t.Errorf("%v", err)
				}
				if gone != want {
					t.Errorf("gone at %s, want %s", gone, want)
				}
				if put := stored.puts == 1; put != (when == "after") {
					t.Errorf("%d files were stored", stored.puts)
				}
				rest(t, other)
				tidy(t, other, dir)
				if left, err := store.Exists(t.Context(), db, "SELECT 1 FROM event_garbage"); left || err != nil {
					t.Error("garbage is left", err)
				}
			})
		})
	}
}
