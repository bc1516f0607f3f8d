package process_test

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
)

// Processes go on while a newer program migrates the database that they serve, and after it: a
// rolling upgrade. The migration adds all that one may add (internal/store/rolling_test.go says
// what that is). Only a process that starts anew is refused.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	dir := t.TempDir()
	s := serve(t, dir, database)
	redirector := serve(t, t.TempDir(), database, "--roles", "redirect")
	l := newLoad(t, s)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var wg sync.WaitGroup
	l.writers(ctx, 0, 2, &wg)
	l.visitors(ctx, s, 2, &wg)
	l.visitors(ctx, redirector, 1, &wg)
	more := func(what string) {
		t.Helper()
		writing, answered := l.writing.Load(), l.answered.Load()
		eventually(t, what+" the migration there are writes and visits", func() error {
			if l.writing.Load() < writing+20 || l.answered.Load() < answered+20 {
				return context.DeadlineExceeded
			}
			return nil
		})
	}
	more("before")
	db := open(t, dir, database)
	migrateFurther(t, db)
	more("after")
	stop()
	wg.Wait()
	l.verify(t, db)
	l.published(t, s, db)
	l.counted(t, s)
	l.owner.create(t, "after")
	redirector.visitor(t).leadsTo(t, "after", "after-0")
	if stderr, _ := second(t, exec.Command(binary, serveArgs(t.TempDir(), database)...)); !strings.Contains(stderr,
		"the database has schema "+strconv.Itoa(int(store.NewestSchema)+1)) {
		t.Errorf("a start with the newer schema: %q", stderr)
	}
	s.terminate()
	redirector.terminate()
}

// migrateFurther adds a column to each table, a table and an index, in the transaction of a
// migration.
func migrateFurther(t *testing.T, db *store.DB) {
	t.Helper()
	tables, err := store.All(t.Context(), db, store.Value[string],
		"SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name")
	if err != nil || len(tables) < 50 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	statements := []string{"CREATE TABLE later (id TEXT PRIMARY KEY, link_id TEXT REFERENCES link (id) ON DELETE CASCADE)",
		"CREATE INDEX later_link ON link (created_at, title)"}
	for _, table := range tables {
		statements = append(statements, "ALTER TABLE "+table+" ADD COLUMN later_text TEXT", "ALTER TABLE "+table+
			" ADD COLUMN later_number BIGINT NOT NULL DEFAULT 0")
	}
	statements = append(statements, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ("+
		strconv.Itoa(int(store.NewestSchema)+1)+", TRUE)")
	for _, statement := range statements {
		// One by one: a migration of all tables at once would wait for each of them, and they for it.
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), statement)
			return err
		}); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
