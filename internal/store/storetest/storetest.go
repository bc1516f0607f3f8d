// Package storetest opens migrated databases for tests: SQLite in the test's
// temporary folder, and a database of its own on a private PostgreSQL that is
// started for the purpose. There is no way to skip an engine.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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

// Address returns the address of a new database of an engine, which has its tables already;
// it is removed when the test ends.
func Address(t testing.TB, engine string) string {
	t.Helper()
	if engine == "sqlite" {
		address := Empty(t, engine)
		migrated, err := templateFile()
		if err == nil {
			err = os.WriteFile(strings.TrimPrefix(address, "sqlite:"), migrated, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	return onServer(t, template)
}

// Empty is Address without tables.
func Empty(t testing.TB, engine string) string {
	t.Helper()
	if engine == "sqlite" {
		return "sqlite:" + filepath.Join(t.TempDir(), "waymark.db")
	}
	return onServer(t, func() (string, error) { return "template0", nil })
}

func onServer(t testing.TB, template func() (string, error)) string {
	t.Helper()
	address, err := newDatabase(t, template)
	if err != nil {
		t.Fatalf("private PostgreSQL: %v", err)
	}
	return address
}

var (
	server = sync.OnceValues(Postgres)
	// template is migrated once on a server, templateFile once in a process, and copied for
	// each test: copying is faster.
	template     = sync.OnceValues(makeTemplate)
	templateFile = sync.OnceValues(makeTemplateFile)
	serial       atomic.Int64
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

// makeTemplateFile returns the bytes of a migrated SQLite database.
func makeTemplateFile() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "waymark-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "waymark.db")
	if err := migrate("sqlite:" + name); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

func migrate(address string) error {
	db, err := store.Open(context.Background(), address, &clock.Clock{})
	if err != nil {
		return err
	}
	_, err = db.Migrate(context.Background())
	return errors.Join(err, db.Close())
}

func makeTemplate() (name string, err error) {
	private, err := server()
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	admin, err := sql.Open("pgx", private.Address)
	if err != nil {
		return "", err
	}
	defer admin.Close()
	admin.SetMaxOpenConns(1) // it holds the lock until it is closed
	// Other test binaries may want the template at the same time.
	if _, err := admin.ExecContext(ctx, "SELECT pg_advisory_lock(1)"); err != nil {
		return "", err
	}
	name = fmt.Sprint("template_", store.NewestSchema)
	var made bool
	if err := admin.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)",
		name).Scan(&made); made || err != nil {
		return name, err
	}
	draft := fmt.Sprintf("t%d", time.Now().UnixNano())
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+draft); err != nil {
		return "", err
	}
	if err := migrate(withDatabase(private.Address, draft)); err != nil {
		return "", err
	}
	_, err = admin.ExecContext(ctx, "ALTER DATABASE "+draft+" RENAME TO "+name)
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
