package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// group has transactions wait for the writer until its hold ends, so that they
// share a commit, in the order in which they were added.
type group struct {
	*testing.T
	db    *store.DB
	clock *clock.Clock
	held  chan struct{}
	all   sync.WaitGroup
}

// inGroup runs f in a bubble with a database of its own.
func inGroup(t *testing.T, f func(g *group)) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock.Clock{}
		c.Set(storetest.Start)
		g := &group{T: t, db: storetest.Open(t, storetest.Address(t, "sqlite"), c), clock: c, held: make(chan struct{})}
		g.add(func() error { return g.db.InTx(t.Context(), func(*store.Tx) error { <-g.held; return nil }) })
		f(g)
	})
}

// add has something wait behind what was added before; the error is there when
// end returns.
func (g *group) add(f func() error) *error {
	err := new(error)
	g.all.Go(func() { *err = f() })
	synctest.Wait()
	return err
}

// insert adds a transaction that inserts a row and then calls f.
func (g *group) insert(name string, f func(*store.Tx) error) *error {
	return g.add(func() error {
		return g.db.InTx(g.Context(), func(tx *store.Tx) error {
			if _, err := tx.Exec(g.Context(), "INSERT INTO sequence (name, value) VALUES (?, ?)", name,
				int64(tx.Now)); err != nil {
				return err
			}
			return f(tx)
		})
	})
}

func (g *group) end() {
	close(g.held)
	g.all.Wait()
}

func nothing(*store.Tx) error { return nil }

// names returns the rows that were inserted, as q sees them.
func (g *group) names(q store.Q) string {
	g.Helper()
	names, err := store.All(g.Context(), q, store.Value[string], `SELECT name FROM sequence WHERE name <> 'route_change'
		ORDER BY name`)
	if err != nil {
		g.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestSharedCommit(t *testing.T) {
	inGroup(t, func(g *group) {
		signal := g.db.Listen("topic")
		var after atomic.Int64
		var nows []clock.Instant
		note := func(tx *store.Tx) error {
			tx.AfterCommit(func() { after.Add(1) })
			tx.Signal("topic")
			nows = append(nows, tx.Now)
			g.clock.Move(time.Second)
			return nil
		}
		boom := errors.New("boom")
		first := g.insert("a", note)
		failed := g.insert("b", func(tx *store.Tx) error { note(tx); return boom })
		panicked := g.add(func() (err error) {
			defer func() { err = fmt.Errorf("panic: %v", recover()) }()
			return g.db.InTx(g.Context(), func(tx *store.Tx) error {
				note(tx)
				tx.Exec(g.Context(), "INSERT INTO sequence (name, value) VALUES ('c', 1)")
				panic("boom")
			})
		})
		twice := g.add(func() error {
			_, err := g.db.Exec(g.Context(), "INSERT INTO sequence (name, value) VALUES ('d', 1), ('a', 1)")
			return err
		})
		single := g.add(func() error {
			_, err := g.db.Exec(g.Context(), "INSERT INTO sequence (name, value) VALUES ('e', 1)")
			return err
		})
		last := g.insert("f", func(tx *store.Tx) error {
			if got := g.names(tx); got != "a e f" {
				t.Errorf("the last sees %q", got)
			}
			if got := g.names(g.db); got != "" || after.Load() != 0 || len(signal) != 0 {
				t.Errorf("before the commit: rows %q, %d functions ran, %d signals", got, after.Load(), len(signal))
			}
			return note(tx)
		})
		g.end()
		if *first != nil || *single != nil || *last != nil {
			t.Errorf("%v, %v, %v", *first, *single, *last)
		}
		if *failed != boom || (*panicked).Error() != "panic: boom" || !g.db.IsUnique(*twice) {
			t.Errorf("%v, %v, %v", *failed, *panicked, *twice)
		}
		if got := g.names(g.db); got != "a e f" || after.Load() != 2 || len(signal) != 1 {
			t.Errorf("rows %q, %d functions ran, %d signals", got, after.Load(), len(signal))
		}
		for i, now := range nows {
			if want := storetest.Start.Add(time.Duration(i) * time.Second); now != want {
				t.Errorf("Now of transaction %d is %v, want %v", i, now, want)
			}
		}
	})
}

// What SQLite undoes with a statement that found the disk full is told to all
// who shared the commit, also when the transaction itself said nothing of it.
func TestFullDiskInSharedCommit(t *testing.T) {
	for name, quiet := range map[string]bool{"told": false, "kept quiet": true} {
		t.Run(name, func(t *testing.T) {
			inGroup(t, func(g *group) {
				first := g.insert("a", nothing)
				refused := g.insert("b", func(*store.Tx) error { return errors.New("refused") })
				var after atomic.Bool
				full := g.insert("c", func(tx *store.Tx) error {
					tx.AfterCommit(func() { after.Store(true) })
					pages, err := store.One(g.Context(), tx, store.Value[int64], "PRAGMA page_count")
					if err == nil {
						_, err = store.One(g.Context(), tx, store.Value[int64],
							fmt.Sprintf("PRAGMA max_page_count = %d", pages+1))
					}
					if err != nil {
						t.Error(err)
					}
					if _, err = tx.Exec(g.Context(), "INSERT INTO sequence (name, value) VALUES (?, 1)",
						strings.Repeat("x", 1<<20)); err == nil {
						t.Error("the disk is not full")
					}
					if quiet {
						return nil
					}
					return err
				})
				later := g.insert("d", nothing)
				g.end()
				for what, err := range map[string]*error{"before": first, "failed before": refused, "full": full} {
					if !g.db.IsAway(*err) || !quiet && !strings.Contains((*err).Error(), "full") {
						t.Errorf("%s: %v", what, *err)
					}
				}
				if got := g.names(g.db); *later != nil || got != "d" || after.Load() {
					t.Errorf("the next: %v; rows %q; functions ran: %v", *later, got, after.Load())
				}
			})
		})
	}
}

// A failing commit is told to all.
func TestFailedSharedCommit(t *testing.T) {
	inGroup(t, func(g *group) {
		first := g.insert("a", nothing)
		last := g.insert("b", func(tx *store.Tx) error {
			// A reference that is looked at only by COMMIT.
			if _, err := tx.Exec(g.Context(), "PRAGMA defer_foreign_keys = 1"); err != nil {
				return err
			}
			_, err := tx.Exec(g.Context(), `INSERT INTO api_key (id, owner_id, name, prefix, digest, app_ids,
				permissions, expires_at, revision, created_at, updated_at)
				VALUES ('k', 'nobody', '', '', '', '', '', 0, '', 0, 0)`)
			return err
		})
		g.end()
		if got := g.names(g.db); *first == nil || *last == nil || got != "" {
			t.Errorf("%v, %v; rows %q", *first, *last, got)
		}
		if err := g.db.InTx(g.Context(), nothing); err != nil {
			t.Error(err)
		}
	})
}

func TestLeavingTheQueue(t *testing.T) {
	inGroup(t, func(g *group) {
		ctx, cancel := context.WithCancel(g.Context())
		ran := func(*store.Tx) error { t.Error("it ran"); return nil }
		left := g.add(func() error { return g.db.InTx(ctx, ran) })
		single := g.add(func() error {
			_, err := g.db.Exec(ctx, "INSERT INTO sequence (name, value) VALUES ('x', 1)")
			return err
		})
		stayed := g.insert("a", nothing)
		cancel()
		synctest.Wait()
		// Before the writer is free:
		if *left != context.Canceled || *single != context.Canceled {
			t.Errorf("%v, %v", *left, *single)
		}
		if err := g.db.InTx(ctx, ran); err != context.Canceled {
			t.Error(err)
		}
		g.end()
		if err := g.db.InTx(ctx, ran); err != context.Canceled {
			t.Error(err)
		}
		if got := g.names(g.db); *stayed != nil || got != "a" {
			t.Errorf("%v; rows %q", *stayed, got)
		}
	})
}

// Whoever gives up in the moment of the turn hands it on.
func TestLeavingWithTheTurn(t *testing.T) {
	inGroup(t, func(g *group) {
		ctx, cancel := context.WithCancel(g.Context())
		g.add(func() error { return g.db.InTx(g.Context(), func(*store.Tx) error { cancel(); return nil }) })
		for range 1000 {
			g.all.Go(func() { g.db.InTx(ctx, nothing) })
		}
		synctest.Wait()
		last := g.insert("a", nothing)
		g.end()
		if got := g.names(g.db); *last != nil || got != "a" {
			t.Errorf("%v; rows %q", *last, got)
		}
	})
}

// Whoever is told that a row is there finds it, and nobody else's is there,
// however transactions fail or are given up.
func TestManyWriters(t *testing.T) {
	c := &clock.Clock{}
	db := storetest.Open(t, storetest.Address(t, "sqlite"), c)
	var told atomic.Int64
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			for i := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					if rand.N(4) == 0 {
						cancel()
					}
				}()
				name := fmt.Sprintf("%d-%d", n, i)
				err := db.InTx(ctx, func(tx *store.Tx) error {
					_, err := tx.Exec(ctx, "INSERT INTO sequence (name, value) VALUES (?, 1)", name)
					if i%10 == 0 {
						err = errors.New("refused")
					}
					return err
				})
				found, readErr := store.Exists(t.Context(), db, "SELECT 1 FROM sequence WHERE name = ?", name)
				if readErr != nil || found != (err == nil) {
					t.Errorf("%s: %v, then %v, %v", name, err, found, readErr)
				}
				if err == nil {
					told.Add(1)
				}
				cancel()
			}
		})
	}
	all.Wait()
	n, err := store.One(t.Context(), db, store.Value[int64], `SELECT COUNT(*) FROM sequence
		WHERE name <> 'route_change'`)
	if err != nil || n != told.Load() || n == 0 {
		t.Errorf("%d rows, %v; told of %d", n, err, told.Load())
	}
}

// committed returns a transaction that notes how many rows are committed.
func (g *group) committed(counts *[]int64) func(*store.Tx) error {
	return func(*store.Tx) error {
		n, err := store.One(g.Context(), g.db, store.Value[int64], `SELECT COUNT(*) FROM sequence
			WHERE name <> 'route_change'`)
		*counts = append(*counts, n)
		return err
	}
}

func TestGroupHasABound(t *testing.T) {
	inGroup(t, func(g *group) {
		var counts []int64
		for i := range 100 {
			g.insert(fmt.Sprint(i), g.committed(&counts))
		}
		g.end()
		for i, n := range counts {
			if want := int64(i / 64 * 64); n != want {
				t.Errorf("transaction %d finds %d rows committed, want %d", i, n, want)
			}
		}
	})
}

// A long transaction has the next wait, not those before it for more.
func TestLongTransactionEndsItsGroup(t *testing.T) {
	inGroup(t, func(g *group) {
		var counts []int64
		g.insert("a", g.committed(&counts))
		g.insert("b", func(tx *store.Tx) error { time.Sleep(time.Second); return g.committed(&counts)(tx) })
		g.insert("c", g.committed(&counts))
		g.insert("d", g.committed(&counts))
		g.end()
		if want := "[0 0 2 2]"; fmt.Sprint(counts) != want {
			t.Errorf("committed rows %v, want %s", counts, want)
		}
	})
}

// A migration takes part in no transaction.
func TestMigrateInQueue(t *testing.T) {
	inGroup(t, func(g *group) {
		var counts []int64
		g.insert("a", g.committed(&counts))
		migrated := g.add(func() error { _, err := g.db.Migrate(g.Context()); return err })
		g.insert("b", g.committed(&counts))
		g.end()
		if want := "[0 1]"; *migrated != nil || fmt.Sprint(counts) != want {
			t.Errorf("%v; committed rows %v, want %s", *migrated, counts, want)
		}
	})
}
