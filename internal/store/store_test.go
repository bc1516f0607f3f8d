package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Concurrent increments that read before they write: none may be lost.
func TestInTxIsSerializable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx := context.Background()
		const writers, rounds = 8, 10
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range rounds {
					err := db.InTx(ctx, func(tx *store.Tx) error {
						v, err := store.One(ctx, tx, store.Value[int64], "SELECT value FROM sequence WHERE name = ?",
							"route_change")
						if err != nil {
							return err
						}
						_, err = tx.Exec(ctx, "UPDATE sequence SET value = ? WHERE name = ?", v+1, "route_change")
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		v, err := store.One(ctx, db, store.Value[int64], "SELECT value FROM sequence WHERE name = ?", "route_change")
		if err != nil || v != writers*rounds {
			t.Fatalf("value = %d, %v; want %d", v, err, writers*rounds)
		}
	})
}

// Of two transactions that wait for each other PostgreSQL ends one, which is run
// again.
func TestDeadlockIsTriedAgain(t *testing.T) {
	ctx, db := t.Context(), storetest.Open(t, storetest.Address(t, "postgres"), &clock.Clock{})
	if _, err := db.Exec(ctx, "INSERT INTO sequence (name, value) VALUES ('a', 0), ('b', 0)"); err != nil {
		t.Fatal(err)
	}
	var holding, done sync.WaitGroup
	holding.Add(2)
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		done.Go(func() {
			both := sync.OnceFunc(func() { holding.Done(); holding.Wait() }) // hold one row each
			if err := db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
				if err := tx.Send(ctx, "SET LOCAL deadlock_timeout = '10ms'"); err != nil {
					return err
				}
				for _, name := range order {
					if _, err := tx.Exec(ctx, "UPDATE sequence SET value = value + 1 WHERE name = ?", name); err != nil {
						return err
					}
					both()
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	values, err := store.All(ctx, db, store.Value[int64], "SELECT value FROM sequence WHERE name IN ('a', 'b')")
	if err != nil || len(values) != 2 || values[0] != 2 || values[1] != 2 || db.Retries() == 0 {
		t.Errorf("values %d, %v; want 2 and 2; %d transactions were tried again", values, err, db.Retries())
	}
}

func TestRollbackAndAfterCommit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ctx := context.Background()
		insert := func(name string, fail error, ran *bool) error {
			return db.InTx(ctx, func(tx *store.Tx) error {
				tx.AfterCommit(func() { *ran = true })
				if _, err := tx.Exec(ctx, "INSERT INTO sequence (name, value) VALUES (?, ?)", name,
					int64(tx.Now)); err != nil {
					return err
				}
				return fail
			})
		}
		var ran bool
		boom := errors.New("boom")
		if err := insert("a", boom, &ran); !errors.Is(err, boom) || ran {
			t.Fatalf("failed transaction: %v, after-commit ran: %v", err, ran)
		}
		if found, err := store.Exists(ctx, db, "SELECT 1 FROM sequence WHERE name = ?", "a"); err != nil || found {
			t.Fatalf("rolled-back row: %v, %v", found, err)
		}
		if err := insert("a", nil, &ran); err != nil || !ran {
			t.Fatalf("committed transaction: %v, after-commit ran: %v", err, ran)
		}
		at, err := store.One(ctx, db, store.Value[clock.Instant], "SELECT value FROM sequence WHERE name = ?", "a")
		if err != nil || at != c.Now() {
			t.Fatalf("stored %v, %v; want %v", at, err, c.Now())
		}
		if err := insert("a", nil, &ran); !db.IsUnique(err) {
			t.Fatalf("duplicate insert: %v", err)
		}
		// A panic must give the writer back.
		func() {
			defer func() { recover() }()
			db.InTx(ctx, func(*store.Tx) error { panic("boom") })
		}()
		if err := insert("b", nil, &ran); err != nil {
			t.Fatal(err)
		}
	})
}

// A query of one row that has two is an error, with no row. Exists may find any number.
func TestOneRowIsOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		names := func(begin string) (string, error) {
			return store.One(t.Context(), db, store.Value[string], "SELECT name FROM sequence WHERE name LIKE ? ORDER BY name",
				begin+"%")
		}
		if _, err := db.Exec(t.Context(),
			"INSERT INTO sequence (name, value) VALUES ('x1', 1), ('x2', 1), ('y1', 1)"); err != nil {
			t.Fatal(err)
		}
		if name, err := names("y"); name != "y1" || err != nil {
			t.Errorf("of one row: %q, %v", name, err)
		}
		if name, err := names("x"); name != "" || err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("of two rows: %q, %v", name, err)
		}
		if name, err := names("z"); name != "" || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of no row: %q, %v", name, err)
		}
		for begin, want := range map[string]bool{"x": true, "y": true, "z": false} {
			exists, err := store.Exists(t.Context(), db, "SELECT 1 FROM sequence WHERE name LIKE ?", begin+"%")
			if exists != want || err != nil {
				t.Errorf("%s: %v, %v; want %v", begin, exists, err, want)
			}
		}
	})
}

// What differs between the engines must not show: text compares by byte,
// BOOLEAN and NULL scan alike, row values compare in lexical order.
func TestEnginesAgree(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx := context.Background()
		for _, name := range []string{"b", "B", "a", "é", "Z", "z_", "z~"} {
			if _, err := db.Exec(ctx, "INSERT INTO sequence (name, value) VALUES (?, 1)", name); err != nil {
				t.Fatal(err)
			}
		}
		names, err := store.All(ctx, db, store.Value[string], `SELECT name FROM sequence WHERE value = 1
			AND (value, name) > (?, ?) ORDER BY value, name`, 1, "B")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"Z", "a", "b", "z_", "z~", "é"}
		if len(names) != len(want) {
			t.Fatalf("got %q, want %q", names, want)
		}
		for i := range want {
			if names[i] != want[i] {
				t.Fatalf("got %q, want %q", names, want)
			}
		}
	})
}

func TestMigrateTwice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if v, err := db.Migrate(context.Background()); err != nil || v < 1 {
					t.Errorf("Migrate = %d, %v", v, err)
				}
			})
		}
		wg.Wait()
	})
}

// Nothing in a searched text is a pattern.
func TestContains(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		condition := "SELECT 1 FROM (SELECT CAST(? AS TEXT) AS v) AS texts WHERE " + db.Dialect().Contains("v")
		for _, c := range []struct {
			text, part string
			want       bool
		}{
			{`a5%_\b`, `5%_\`, true}, {"a5xyzb", "5%", false}, {"a5xb", "5_", false}, {"ab", "B", false},
			{"straße", "aß", true}, {"arger", "ärger", false},
		} {
			if got, err := store.Exists(t.Context(), db, condition, c.text, c.part); err != nil || got != c.want {
				t.Errorf("%q contains %q: %v, %v", c.text, c.part, got, err)
			}
		}
	})
}

// Parts of few sizes, whatever the number of rows.
func TestChunks(t *testing.T) {
	for n := range 200 {
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		next := 0
		for part := range store.Chunks(rows) {
			if size := len(part); size > 32 || size&(size-1) != 0 {
				t.Errorf("of %d: a part of %d", n, size)
			}
			for _, row := range part {
				if row != next {
					t.Fatalf("of %d: row %d, want %d", n, row, next)
				}
				next++
			}
		}
		if next != n {
			t.Errorf("of %d: %d rows", n, next)
		}
	}
}

func TestListen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		both, other := db.Listen("a", "b"), db.Listen("c")
		for _, topic := range []string{"a", "b"} {
			if err := db.InTx(t.Context(), func(tx *store.Tx) error { tx.Signal(topic); return nil }); err != nil {
				t.Fatal(err)
			}
			if len(both) != 1 || len(other) != 0 {
				t.Errorf("after %s: %d and %d signals", topic, len(both), len(other))
			}
			<-both
		}
	})
}

// A document that is damaged is no database that is away, also when it ends too early as a connection
// does.
func TestDamageIsNotAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, text := range []string{"{", "!{", `{"a":`, `{"a":1}}`} {
			_, err := store.One(t.Context(), db, func(r store.Row) (v map[string]int, err error) {
				var document string
				if err = r.Scan(&document); err == nil {
					err = json.Unmarshal([]byte(document), &v)
				}
				return v, err
			}, "SELECT CAST(? AS TEXT)", text)
			if err == nil || db.IsAway(err) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if db.Dialect().Name == "postgres" && !db.IsAway(fmt.Errorf("read: %w", io.ErrUnexpectedEOF)) {
			t.Error("a connection that ends is no database that is away")
		}
	})
}
