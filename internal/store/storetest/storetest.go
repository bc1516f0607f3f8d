// Package storetest opens migrated databases for tests: SQLite in the test's
// temporary folder, and a database of its own on a private PostgreSQL that is
// started for the purpose. There is no way to skip an engine.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that makes test databases

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// Engines are the names that Each gives its subtests.
var Engines = []string{"sqlite", "postgres"}

// Start is where a test's clock stands at first.
var Start = clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

// Each runs f on every engine, each with an empty migrated database and a
// clock that stands at Start.
func Each(t *testing.T, f func(t *testing.T, db *store.DB, c *clock.Clock)) {
	for _, engine := range Engines {
		t.Run(engine, func(t *testing.T) {
			c := &clock.Clock{}
			c.Set(Start)
			f(t, Open(t, Address(t, engine), c), c)
		})
	}
}

// Open opens and migrates a database, closed when the test ends.
func Open(t testing.TB, address string, c *clock.Clock) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), address, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return db
}

// Address returns the address of a new database of an engine; it is removed
// when the test ends. On PostgreSQL it has its tables already.
func Address(t testing.TB, engine string) string {
	t.Helper()
	return address(t, engine, template)
}

// Empty is Address without tables on either engine.
func Empty(t testing.TB, engine string) string {
	t.Helper()
	return address(t, engine, func() (string, error) { return "template0", nil })
}

func address(t testing.TB, engine string, template func() (string, error)) string {
	t.Helper()
	if engine == "sqlite" {
		return "sqlite:" + filepath.Join(t.TempDir(), "waymark.db")
	}
	address, err := newDatabase(t, template)
	if err != nil {
		t.Fatalf("private PostgreSQL: %v", err)
	}
	return address
}

var (
	server = sync.OnceValues(Postgres)
	// template is migrated once and copied for each test: copying is faster.
	template = sync.OnceValues(makeTemplate)
	serial   atomic.Int64
)

func newDatabase(t testing.TB, template func() (string, error)) (string, error) {
	private, err := server()
	if err != nil {
		return "", err
	}
	admin := private.Address
	from, err := template()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("t%d_%d", time.Now().UnixNano(), serial.Add(1))
	if err := execute(admin, "CREATE DATABASE "+name+" TEMPLATE "+from); err != nil {
		return "", err
	}
	t.Cleanup(func() {
		if err := execute(admin, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return withDatabase(admin, name), nil
}

func makeTemplate() (string, error) {
	private, err := server()
	if err != nil {
		return "", err
	}
	admin := private.Address
	name := fmt.Sprintf("t%d", time.Now().UnixNano())
	if err := execute(admin, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	ctx := context.Background()
	db, err := store.Open(ctx, withDatabase(admin, name), &clock.Clock{})
	if err != nil {
		return "", err
	}
	defer db.Close()
	_, err = db.Migrate(ctx)
	return name, err
}

func execute(address, statement string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}

func withDatabase(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	u.Path = "/" + name
	return u.String()
}
