package assembly_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// mover moves the events of an installation.
type mover struct {
	*testing.T
	assembly.EngineOptions
	all int64
}

// newMover returns an installation with events of two apps in an engine, those of more
// than two batches of a copy.
func newMover(t *testing.T, db *store.DB, c *clock.Clock, engine string) *mover {
	m := &mover{T: t, EngineOptions: assembly.EngineOptions{DB: db, DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}}
	if _, err := db.InstallationValue(t.Context(), "events_engine", engine); err != nil {
		t.Fatal(err)
	}
	m.with(engine, func(e eventstore.Engine) {
		for i, app := range []string{"large", "small"} {
			events := enginetest.NewTraffic(uint64(i), app, c.Now()).Events(18_000 - 17_000*i)
			m.all += int64(len(events))
			if err := e.Append(t.Context(), enginetest.Batch(events...)); err != nil {
				t.Fatal(err)
			}
		}
	})
	return m
}

func (m *mover) to(engine string) assembly.EngineOptions {
	o := m.EngineOptions
	o.Address = engine
	return o
}

// with calls f with an engine.
func (m *mover) with(engine string, f func(eventstore.Engine)) {
	m.Helper()
	o := m.to(engine)
	o.Target = true // whatever the engine of the installation is
	e, err := assembly.OpenEngine(m.Context(), o)
	if err != nil {
		m.Fatal(err)
	}
	f(e)
	if err := assembly.CloseEngine(e); err != nil {
		m.Error(err)
	}
}

// answers are what an engine answers about all events.
func (m *mover) answers(engine string) (all [][]eventstore.Row) {
	m.with(engine, func(e eventstore.Engine) {
		for _, app := range []string{"large", "small"} {
			var by []eventstore.Grouping
			for _, d := range []eventstore.Dimension{eventstore.None, eventstore.ByLink, eventstore.ByTag, eventstore.ByOS} {
				by = append(by, eventstore.Grouping{By: d, Visitors: true, Links: true, Installs: true})
			}
			rows, err := e.Count(m.Context(), eventstore.Filter{AppID: app, End: eventstore.LastInstant}, by...)
			if err != nil {
				m.Fatal(err)
			}
			all = append(all, rows...)
		}
	})
	return all
}

// copy copies to an engine and returns the last progress. The copy ends when progress
// has been made a number of times.
func (m *mover) copy(engine string, times int) (copied int64, err error) {
	ctx, cancel := context.WithCancel(m.Context())
	defer cancel()
	err = assembly.CopyEvents(ctx, m.EngineOptions, m.to(engine), func(n, all int64) {
		if all != m.all || n <= copied {
			m.Errorf("%d of %d events after %d, want of %d", n, all, copied, m.all)
		}
		copied = n
		if times--; times == 0 {
			cancel()
		}
	})
	return copied, err
}

func (m *mover) wantRefused(err error, words string) {
	m.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		m.Errorf("%v, want %q", err, words)
	}
}

func (m *mover) wantEngine(engine string) {
	m.Helper()
	if recorded, err := assembly.Recorded(m.Context(), m.DB); recorded != engine || err != nil {
		m.Errorf("the engine of the installation is %q, %v; want %q", recorded, err, engine)
	}
}

// wantLeft requires that doctor tells what a copy left in another engine, in some words.
func (m *mover) wantLeft(words string) {
	m.Helper()
	o := m.EngineOptions
	o.Address = ""
	found, err := assembly.CheckEngine(m.Context(), o)
	if _, left, _ := strings.Cut(found, "delete them with "); left != words || err != nil {
		m.Errorf("%q, %v; want %q", found, err, words)
	}
}

// A copy that is ended goes on where it was, with the batch again that was copied and
// not kept; nothing comes twice, and the installation changes its engine at the end.
func TestCopyEvents(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		for _, test := range [][2]string{{"database", "segments"}, {"segments", "database"}} {
			from, to := test[0], test[1]
			db, c := db, c
			if from != "database" {
				db = storetest.Open(t, storetest.Address(t, db.Dialect().Name), c)
			}
			m := newMover(t, db, c, from)
			m.wantLeft("")
			click := clicklog.Event{At: c.Now(), Type: clicklog.Click, Link: clicklog.Link{ID: "late", AppID: "small"}}
			appendClick(t, m.DataDir, &click)
			m.all++ // the click of a process that has ended is loaded first
			if n, err := m.copy(to, 1); err == nil || n != 8192 {
				t.Fatalf("an ended copy: %d events, %v", n, err)
			}
			m.wantEngine(from)
			m.wantLeft("")
			if n, err := m.copy(to, 2); err == nil || n != 16384 {
				t.Fatalf("one that was ended again: %d events, %v", n, err)
			}
			if n, err := m.copy(to, 0); err != nil || n != m.all {
				t.Fatalf("the rest: %d events, %v; want %d", n, err, m.all)
			}
			m.wantEngine(to)
			if before, after := m.answers(from), m.answers(to); !reflect.DeepEqual(before, after) {
				t.Errorf("%s answers\n%v\n%s answered\n%v", to, after, from, before)
			}
			m.wantLeft("waymark events clear --engine " + from)
			if from == "database" { // files of segments stay for minutes
				o := m.EngineOptions
				o.Address = from
				if err := assembly.ClearEvents(t.Context(), o, func(int64) {}); err != nil {
					t.Fatal(err)
				}
				m.wantLeft("")
			}
		}
	})
}

// appendClick leaves a click in the click log, as a process that ends too early does.
func appendClick(t *testing.T, dataDir string, e *clicklog.Event) {
	t.Helper()
	l, err := clicklog.Open(filepath.Join(dataDir, "clicks"), slog.New(slog.DiscardHandler))
	if err == nil {
		err = l.Append(e)
	}
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Nothing is copied over other events, from the wrong engine, or when events come
// meanwhile; what is cleared is never what analytics shows.
func TestCopyRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		m := newMover(t, db, c, "database")
		_, err := m.copy("database", 0)
		m.wantRefused(err, "in the engine database already")
		_, err = m.copy("mysql", 0)
		m.wantRefused(err, "--to is none of segments")
		from := m.to("segments")
		m.wantRefused(assembly.CopyEvents(t.Context(), from, m.to("database"), func(_, _ int64) {}),
			"in the engine database, not in segments")
		m.wantRefused(m.clear("database"), "is the engine of this installation")

		late := enginetest.NewTraffic(9, "large", c.Now()).Events(1)
		m.with("segments", func(e eventstore.Engine) {
			if err := e.Append(t.Context(), enginetest.Batch(late...)); err != nil {
				t.Fatal(err)
			}
		})
		_, err = m.copy("segments", 0)
		m.wantRefused(err, "which no copy under way has brought there")
		if err := m.clear("segments"); err != nil {
			t.Fatal(err)
		}
		if n, err := m.copy("segments", 1); err == nil || n != 8192 {
			t.Fatalf("%d, %v", n, err)
		}
		m.with("segments", func(e eventstore.Engine) {
			if err := e.Append(t.Context(), enginetest.Batch(late...)); err != nil {
				t.Fatal(err)
			}
		})
		_, err = m.copy("segments", 0)
		m.wantRefused(err, "app large had ")
		m.wantEngine("database")
		if err := m.clear("segments"); err != nil {
			t.Fatal(err)
		}
		if n, err := m.copy("segments", 0); err != nil || n != m.all {
			t.Fatalf("%d, %v", n, err)
		}
		if err := m.clear("database"); err != nil {
			t.Fatal(err)
		}
		m.with("database", func(e eventstore.Engine) {
			if left, err := e.Read(t.Context(), "", nil, 1); len(left) > 0 || err != nil {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	})
}

// server opens the engine of the installation as a process that runs beside a copy.
func (m *mover) server(engine string) eventstore.Engine {
	m.Helper()
	e, err := assembly.OpenEngine(m.Context(), m.to(engine))
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { assembly.CloseEngine(e) })
	return e
}

// A copy beside a server that loads or deletes events is no copy of all of them, and is
// refused. The events of a server that goes on after a copy stay in its click log.
func TestCopyBesideServer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		m := newMover(t, db, c, "database")
		server := m.server("database")
		known := enginetest.NewTraffic(0, "large", c.Now()).Events(1)
		late := enginetest.Batch(enginetest.NewTraffic(9, "large", c.Now()).Events(50)...)
		for _, test := range []struct {
			what, refusal string
			do            func() error
		}{
			{"load events", "the engine database has ", func() error {
				m.all += 50
				return server.Append(t.Context(), late)
			}},
			{"load events of which the copy has as many", "were loaded during the copy", func() error {
				return server.Append(t.Context(), enginetest.Batch(known...))
			}},
			{"delete events", "the engine database has ", func() error {
				n, _, err := server.Erase(t.Context(), eventstore.Erasure{LinkID: known[0].Link.ID})
				m.all -= n
				return err
			}},
		} {
			var failed error
			err := assembly.CopyEvents(t.Context(), m.EngineOptions, m.to("segments"), func(copied, all int64) {
				if copied == all {
					failed = test.do()
				}
			})
			if failed != nil {
				t.Fatal(test.what, failed)
			}
			m.wantRefused(err, test.refusal)
			m.wantEngine("database")
			if err := m.clear("segments"); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := m.copy("segments", 0); err != nil || n != m.all {
			t.Fatalf("%d events, %v; want %d", n, err, m.all)
		}
		b := enginetest.Batch(enginetest.NewTraffic(10, "small", c.Now()).Events(20)...)
		m.wantRefused(server.Append(t.Context(), b), "in the engine segments now, and no longer in database: restart")
		if err := m.server("segments").Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		m.all += 20
		m.wantTotal("segments")
	})
}

// wantTotal fails unless an engine has all events.
func (m *mover) wantTotal(engine string) {
	m.Helper()
	m.with(engine, func(e eventstore.Engine) {
		totals, err := eventstore.Totals(m.Context(), e, m.DB.Now())
		if n := totals["large"] + totals["small"]; n != m.all || err != nil {
			m.Errorf("%d events in the engine %s, %v; want %d", n, engine, err, m.all)
		}
	})
}

// A process appends a batch and dies before its log gives it up. The batch comes again
// after the events have moved, and is there once.
func TestBatchFromBeforeTheCopy(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		m := newMover(t, db, c, "database")
		l := enginetest.NewLog()
		l.Write(enginetest.NewTraffic(9, "small", c.Now()).Events(120)...)
		m.all += 100
		if err := m.server("database").Append(t.Context(), l.Batch(0, 100)); err != nil {
			t.Fatal(err)
		}
		for _, engine := range []string{"segments", "database"} {
			if n, err := m.copy(engine, 0); err != nil || n != m.all {
				t.Fatalf("%d events, %v; want %d", n, err, m.all)
			}
			if err := m.server(engine).Append(t.Context(), l.Batch(0, 100)); err != nil {
				t.Fatal(err)
			}
			m.wantTotal(engine)
			if engine == "segments" {
				if err := m.clear("database"); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func (m *mover) clear(engine string) error {
	return assembly.ClearEvents(m.Context(), m.to(engine), func(int64) {})
}
