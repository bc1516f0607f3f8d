package segments

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// open returns an Engine on a database and a folder of files.
func open(t testing.TB, db *store.DB, dir string) *Engine {
	t.Helper()
	files, err := blob.Open("file", dir, blob.Segments(0))
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, db, files)
}

func openOn(t testing.TB, db *store.DB, files blob.Store) *Engine {
	t.Helper()
	e := Open(Options{DB: db, Files: files, Dir: t.TempDir(), Turns: turns.New(2),
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { e.Close() })
	return e
}

// layouts are the ways in which events can lie, each as what is done after an Append.
var layouts = map[string]func(t *testing.T, e *Engine, n int){
	"young": func(*testing.T, *Engine, int) {},
	"sealed": func(t *testing.T, e *Engine, n int) {
		seal(t, e)
		rest(t, e)
	},
	"mixed": func(t *testing.T, e *Engine, n int) {
		switch n % 7 {
		case 3:
			seal(t, e)
		case 5:
			rest(t, e)
		}
	},
}

// seal makes files of the young segments.
func seal(t testing.TB, e *Engine) {
	t.Helper()
	young, err := entries(t.Context(), e.DB, "WHERE data IS NOT NULL")
	if err == nil && len(young) > 0 {
		_, err = e.rewrite(t.Context(), young, false, everything)
	}
	if err != nil && !lost(err) {
		t.Error(err)
	}
}

func everything(*segment.Event) bool { return true }

// rest takes steps until there is nothing to do.
func rest(t testing.TB, e *Engine) {
	t.Helper()
	for {
		done, err := e.Step(t.Context())
		if err != nil {
			t.Error(err)
		}
		if err != nil || !done {
			return
		}
	}
}

// moving is an engine whose events are moved after each Append.
type moving struct {
	*Engine
	t     *testing.T
	moved func(t *testing.T, e *Engine, n int)
	n     atomic.Int64
}

func (m *moving) Append(ctx context.Context, b *clicklog.Batch) error {
	err := m.Engine.Append(ctx, b)
	if err == nil {
		m.moved(m.t, m.Engine, int(m.n.Add(1)))
	}
	return err
}

func TestConformance(t *testing.T) {
	for name, moved := range layouts {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
				dir := t.TempDir()
				enginetest.Run(t, func(t *testing.T) eventstore.Engine {
					return &moving{Engine: open(t, db, dir), t: t, moved: moved}
				})
			})
		})
	}
}
