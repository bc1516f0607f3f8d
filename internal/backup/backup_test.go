package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// source is an installation with files of each kind.
func source(t *testing.T, db *store.DB) Source {
	t.Helper()
	s := Source{DB: db, DataDir: t.TempDir(), Version: "test", Assets: true, Events: true}
	for name, content := range map[string]string{
		"assets/one.png": "image", "assets/.storing-1": "half", "clicks/a/1.v1": "clicks", "clicks/b/7.v1": "",
		"events/s1.parquet": "named", "events/s2.parquet": "not named", "session-key.json": "key", "waymark.lock": "",
	} {
		write(t, s.DataDir, name, content)
	}
	for _, statement := range []string{
		`INSERT INTO event_segment (id, first_at, last_at, events, bytes, sha256, created_at) VALUES ('s1', 1, 1, 1, 5, '', 1)`,
		`INSERT INTO event_segment (id, first_at, last_at, events, bytes, sha256, created_at, data)
			VALUES ('young', 1, 1, 1, 5, '', 1, '\x01')`,
		`INSERT INTO users (id, issuer, subject, email, display_name, active, revision, theme, preferences_revision, created_at, updated_at)
			SELECT 'u', 'i', 's', 'e', 'tab	line
\N "quoted" Ü', TRUE, 'r', 't', 'r', 1, 1`,
	} {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.SetInstallationValue(t.Context(), db, "installation_id", "ours"); err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// filesBelow lists the files of a folder but for those of the database.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); err == nil && !entry.IsDir() && !strings.HasPrefix(name, database) &&
			!strings.HasPrefix(name, "waymark.db") {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// target returns what Restore takes, and what then opens the database.
func target(t *testing.T, engine, dir string) (db *store.DB, open func() *store.DB) {
	t.Helper()
	address := "sqlite:" + filepath.Join(dir, "waymark.db")
	reach := func() *store.DB {
		t.Helper()
		db, err := store.Open(t.Context(), address, &clock.Clock{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	if engine == "postgres" {
		address = storetest.Empty(t, engine)
		db = reach()
	}
	return db, reach
}

// opened opens a backup until the test ends.
func opened(t *testing.T, dir string) *Backup {
	t.Helper()
	b, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// What is copied comes back as it was, but for the epoch; what is not named, unfinished or
// held for one process alone is not copied.
func TestRestore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s, dir, to := source(t, db), filepath.Join(t.TempDir(), "backup"), t.TempDir()
		epoch, err := db.Epoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, err := Write(t.Context(), s, dir)
		if err != nil {
			t.Fatal(err)
		}
		if m.Installation != "ours" || m.Epoch != epoch || m.Schema != store.NewestSchema ||
			m.Engine != db.Dialect().Name {
			t.Errorf("manifest %+v", m)
		}
		if held, err := store.Exists(t.Context(), db, "SELECT 1 FROM installation WHERE name LIKE '%held%'"); !held || err != nil {
			t.Errorf("files of events are not held for another backup: %v", err)
		}
		b := opened(t, dir)
		into, open := target(t, db.Dialect().Name, to)
		if err := b.Restore(t.Context(), to, into); err != nil {
			t.Fatal(err)
		}
		want := []string{"assets/one.png", "clicks/a/1.v1", "clicks/b/7.v1", "events/s1.parquet", "session-key.json"}
		if got := filesBelow(t, to); !slices.Equal(got, want) {
			t.Errorf("restored %v, want %v", got, want)
		}
		restored := open()
		for _, query := range []string{"SELECT display_name FROM users", "SELECT value FROM installation WHERE name = 'installation_id'",
			"SELECT CAST(COUNT(data) AS TEXT) FROM event_segment", "SELECT CAST(MAX(value) AS TEXT) FROM sequence"} {
			before, err1 := store.One(t.Context(), db, store.Value[string], query)
			after, err2 := store.One(t.Context(), restored, store.Value[string], query)
			if before != after || err1 != nil || err2 != nil {
				t.Errorf("%s: %q, was %q; %v, %v", query, after, before, err1, err2)
			}
		}
		if again, err := restored.Epoch(t.Context()); err != nil || again == epoch {
			t.Errorf("epoch %q, %v; was %q", again, err, epoch)
		}
		if err := errors.Join(restored.CheckSchema(t.Context()), restored.CheckRestored(t.Context())); err != nil {
			t.Error(err)
		}
		if err := b.Restore(t.Context(), to, into); err == nil {
			t.Error("restored over an installation")
		}
		if into != nil {
			if err := b.Restore(t.Context(), t.TempDir(), into); err == nil {
				t.Error("restored over a database")
			}
		}
	})
}

// While a backup is made, clicks go from the log into the database, and images come, each
// before its row: every click is in one of the two, and every row has its image.
func TestWriteMeanwhile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		const logged, most = 60, 150
		s := Source{DB: db, DataDir: t.TempDir(), Assets: true}
		for n := range logged {
			write(t, s.DataDir, fmt.Sprintf("clicks/a/%d", n), "click")
		}
		ended := make(chan struct{})
		var moving sync.WaitGroup
		for _, step := range []func(n int) error{
			func(n int) error {
				if n >= logged {
					return nil
				}
				return errors.Join(store.SetInstallationValue(context.Background(), db, fmt.Sprint("click ", n), "loaded"),
					os.Remove(filepath.Join(s.DataDir, clicks, "a", fmt.Sprint(n))))
			},
			func(n int) error {
				write(t, s.DataDir, fmt.Sprintf("assets/%d", n), "image")
				return store.SetInstallationValue(context.Background(), db, fmt.Sprint("image ", n), "stored")
			},
		} {
			moving.Go(func() {
				for n := range most {
					select {
					case <-ended:
						return
					default:
					}
					if err := step(n); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		dir, to := filepath.Join(t.TempDir(), "backup"), t.TempDir()
		storetest.Eventually(t, "it has begun", func() bool {
			begun, err := store.Exists(t.Context(), db, "SELECT 1 FROM installation WHERE name = 'click 3'")
			return begun && err == nil
		})
		_, err := Write(t.Context(), s, dir)
		close(ended)
		moving.Wait()
		if err != nil {
			t.Fatal(err)
		}
		b := opened(t, dir)
		into, open := target(t, db.Dialect().Name, to)
		if err := b.Restore(t.Context(), to, into); err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, name := range filesBelow(t, to) {
			there[name] = true
		}
		rows, err := store.All(t.Context(), open(), store.Value[string], "SELECT name FROM installation")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range rows {
			if n, ok := strings.CutPrefix(name, "image "); ok && !there["assets/"+n] {
				t.Errorf("image %s is missing", n)
			}
			if n, ok := strings.CutPrefix(name, "click "); ok {
				there["clicks/a/"+n] = true
			}
		}
		for n := range logged {
			if !there[fmt.Sprintf("clicks/a/%d", n)] {
				t.Errorf("click %d is missing", n)
			}
		}
	})
}

// Each file counts, and each of its bits.
func TestDamaged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := filepath.Join(t.TempDir(), "backup")
		m, err := Write(t.Context(), source(t, db), dir)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string) {
			t.Helper()
			if b, err := Open(t.Context(), dir); err == nil {
				b.Close()
				t.Errorf("%s: not refused", what)
			}
		}
		for _, f := range m.Files {
			path := filepath.Join(dir, f.Path)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(content) > 0 {
				flipped := bytes.Clone(content)
				flipped[len(flipped)/2] ^= 1
				write(t, dir, f.Path, string(flipped))
				refused("flipped " + f.Path)
				write(t, dir, f.Path, string(content[1:]))
				refused("shorter " + f.Path)
			}
			write(t, dir, f.Path, string(content)+"x")
			refused("longer " + f.Path)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			refused("without " + f.Path)
			write(t, dir, f.Path, string(content))
		}
		text, err := os.ReadFile(filepath.Join(dir, manifestName))
		if err != nil {
			t.Fatal(err)
		}
		for from, to := range map[string]string{`"format": 1`: `"format": 2`, `"schema": `: `"schema": 9`,
			`"path": "session-key.json"`: `"path": "../session-key.json"`, `{`: ``} {
			write(t, dir, manifestName, strings.Replace(string(text), from, to, 1))
			refused(from)
		}
		write(t, dir, manifestName, string(text))
		b, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		if err := os.Remove(filepath.Join(dir, manifestName)); err != nil {
			t.Fatal(err)
		}
		refused("without a manifest")
		other := t.TempDir()
		write(t, other, "something", "else")
		if _, err := Write(t.Context(), Source{DB: db, DataDir: t.TempDir()}, other); err == nil {
			t.Error("a backup into a folder that has something")
		}
	})
}

// A restore that is interrupted leaves no installation, and a database that says so.
func TestInterruptedRestore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir, to := filepath.Join(t.TempDir(), "backup"), t.TempDir()
		if _, err := Write(t.Context(), source(t, db), dir); err != nil {
			t.Fatal(err)
		}
		b := opened(t, dir)
		into, open := target(t, db.Dialect().Name, to)
		// The last table is not what its file says, or the file is changed after it was read.
		last := "users.copy"
		if into == nil {
			last = store.CopyName
		}
		content, err := os.ReadFile(filepath.Join(dir, database, last))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, database+"/"+last, "damaged\n")
		if err := b.Restore(t.Context(), to, into); err == nil {
			t.Fatal("restored")
		}
		if _, err := os.Stat(filepath.Join(to, "waymark.db")); err == nil {
			t.Error("the folder has a database")
		}
		write(t, dir, database+"/"+last, string(content))
		if into == nil {
			return
		}
		if err := into.CheckRestored(t.Context()); err == nil {
			t.Error("the database does not tell that its restore did not end")
		}
		if err := b.Restore(t.Context(), t.TempDir(), into); err != nil {
			t.Errorf("once more: %v", err)
		}
		if err := open().CheckRestored(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A restore that ends among the files, before the database is filled, has left no
// installation: neither a start nor a migration makes one of what is there.
func TestRestoreThatEndsAmongTheFiles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir, to := filepath.Join(t.TempDir(), "backup"), t.TempDir()
		m, err := Write(t.Context(), source(t, db), dir)
		if err != nil {
			t.Fatal(err)
		}
		b := opened(t, dir)
		into, open := target(t, db.Dialect().Name, to)
		at := slices.IndexFunc(m.Files, func(f File) bool { return path.Dir(f.Path) != database })
		write(t, dir, m.Files[at].Path, "damaged\n") // after it was read
		if err := b.Restore(t.Context(), to, into); err == nil {
			t.Fatal("restored")
		}
		if err := CheckVacant(to); err == nil {
			t.Error("the folder counts as empty")
		}
		if into == nil {
			left, err := fs.Glob(os.DirFS(to), unfinished)
			if err != nil || len(left) != 1 {
				t.Errorf("of the database there is %v, %v", left, err)
			}
			return
		}
		other := open()
		if _, err := other.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "run waymark restore again") {
			t.Errorf("migrated: %v", err)
		}
		if err := other.CheckVacant(t.Context(), m.Schema); err != nil {
			t.Errorf("a restore cannot go on: %v", err)
		}
	})
}

// Files that grow, come and go while they are copied.
func TestCopyNew(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	f, err := newFolder(context.Background(), to)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"grows": "1", "goes": "1", "shrinks": "12", "stays": "1"} {
		write(t, from, "clicks/a/"+name, content)
	}
	if err := f.copyNew(root, clicks, assets); err != nil {
		t.Fatal(err)
	}
	write(t, from, "clicks/a/grows", "12")
	write(t, from, "clicks/b/comes", "3")
	write(t, from, "clicks/a/shrinks", "")
	if err := os.Remove(filepath.Join(from, "clicks/a/goes")); err != nil {
		t.Fatal(err)
	}
	if err := f.copyNew(root, clicks, assets); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a/grows": "12", "a/goes": "1", "a/shrinks": "12", "a/stays": "1", "b/comes": "3"} {
		got, err := os.ReadFile(filepath.Join(to, clicks, name))
		if err != nil || string(got) != want || f.files["clicks/"+name].Bytes != int64(len(want)) {
			t.Errorf("%s: %q, %v, %+v", name, got, err, f.files["clicks/"+name])
		}
	}
}
