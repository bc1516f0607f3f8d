package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Verify names all that is damaged, also where the digests are right, and changes nothing.
func TestVerify(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		dir := filepath.Join(t.TempDir(), "backup")
		m, err := Write(t.Context(), source(t, db), dir)
		if err != nil {
			t.Fatal(err)
		}
		before := filesBelow(t, filepath.Dir(dir))
		if _, err := Verify(t.Context(), dir); err != nil {
			t.Error(err)
		}
		if after := filesBelow(t, filepath.Dir(dir)); !slices.Equal(after, before) {
			t.Errorf("there are %v, were %v", after, before)
		}
		refused := func(what string, names ...string) {
			t.Helper()
			_, err := Verify(t.Context(), dir)
			for _, name := range names {
				if !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v, want %s", what, err, name)
				}
			}
		}
		// Whoever leaves does not learn that the backup is damaged.
		from, err := newFolder(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		damage := store.Damage("")
		if err := store.VerifyCopy(left, below{from, database}, m.Tables, m.Schema); errors.As(err, &damage) ||
			m.Engine == "sqlite" && err == nil {
			t.Errorf("after the caller has left: %v", err)
		}
		if err := from.close(); err != nil {
			t.Fatal(err)
		}
		// The copy of the database is not one, although its digest is that of the manifest.
		name := path.Join(database, store.CopyName)
		if m.Engine == "postgres" {
			name = path.Join(database, "users.copy")
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, manifestName))
		if err != nil {
			t.Fatal(err)
		}
		spoil := func(what string, spoilt []byte, names ...string) {
			t.Helper()
			write(t, dir, name, string(spoilt))
			changed := m
			changed.Files = slices.Clone(m.Files)
			for i, f := range m.Files {
				if f.Path == name {
					sum := sha256.Sum256(spoilt)
					changed.Files[i] = File{name, int64(len(spoilt)), hex.EncodeToString(sum[:])}
				}
			}
			to, err := newFolder(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(changed.write(to), to.close()); err != nil {
				t.Fatal(err)
			}
			refused(what, append(names, "copy of")...)
		}
		if m.Engine == "sqlite" {
			page := bytes.Clone(content)
			copy(page[len(page)/2:], bytes.Repeat([]byte("damage"), 2000))
			spoil("pages", page)
			spoil("no database", []byte("x"))
		} else {
			spoil("a row that is cut off", content[:len(content)-1], "row 1 is cut off", "users")
			spoil("a row with a column too many", bytes.Replace(content, []byte("\t"), []byte("\tx\t"), 1), "row 1 has")
		}
		write(t, dir, name, string(content))
		write(t, dir, manifestName, string(text))
		write(t, dir, "assets/one.png", "imagE")
		if err := os.Remove(filepath.Join(dir, "session-key.json")); err != nil {
			t.Fatal(err)
		}
		refused("two files", "assets/one.png is not the file", "session-key.json is missing")
	})
}
