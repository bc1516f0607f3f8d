package certificate

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func TestStorage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ctx, s := t.Context(), newStorage(db)
		mustStore := func(key, value string) {
			t.Helper()
			if err := s.Store(ctx, key, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		list := func(folder string, recursive bool, want ...string) {
			t.Helper()
			keys, err := s.List(ctx, folder, recursive)
			slices.Sort(keys)
			if err != nil || !slices.Equal(keys, want) {
				t.Errorf("List(%q, %t): %q, %v; want %q", folder, recursive, keys, err, want)
			}
		}
		for _, key := range []string{"a", "a/b", "a/b/c"} {
			if s.Exists(ctx, key) {
				t.Errorf("%s exists before anything does", key)
			}
			if _, err := s.Load(ctx, key); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Load(%q): %v", key, err)
			}
			if _, err := s.Stat(ctx, key); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Stat(%q): %v", key, err)
			}
			if _, err := s.List(ctx, key, true); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("List(%q): %v", key, err)
			}
			if err := s.Delete(ctx, key); err != nil {
				t.Errorf("Delete(%q) of nothing: %v", key, err)
			}
		}
		mustStore("a/b/c", "first")
		mustStore("a/b/c", "\x00second\xff")
		mustStore("a/b/d/e", "e")
		mustStore("a/f", "f")
		mustStore("a-/x", "beside")
		mustStore("ab/c", "beside")
		if value, err := s.Load(ctx, "a/b/c"); err != nil || string(value) != "\x00second\xff" {
			t.Errorf("%q, %v", value, err)
		}
		list("a", false, "a/b", "a/f")
		list("a", true, "a/b", "a/b/c", "a/b/d", "a/b/d/e", "a/f")
		list("", false, "a", "a-", "ab")
		for key, terminal := range map[string]bool{"a": false, "a/b": false, "a/b/c": true} {
			info, err := s.Stat(ctx, key)
			if err != nil || info.Key != key || info.IsTerminal != terminal ||
				!info.Modified.Equal(storetest.Start.Time()) {
				t.Errorf("Stat(%q): %+v, %v", key, info, err)
			}
			if terminal && info.Size != 8 {
				t.Errorf("size %d", info.Size)
			}
			if !s.Exists(ctx, key) {
				t.Errorf("%s does not exist", key)
			}
		}
		if err := s.Delete(ctx, "a/b"); err != nil {
			t.Fatal(err)
		}
		list("a", true, "a/f")
		list("ab", true, "ab/c")
		if s.Exists(ctx, "b") || s.Exists(ctx, "a/b") {
			t.Error("what was deleted exists")
		}
		if err := s.Store(ctx, "long", bytes.Repeat([]byte("x"), maxValue)); err != nil {
			t.Error(err)
		}
		if s.Store(ctx, "long", bytes.Repeat([]byte("x"), maxValue+1)) == nil {
			t.Error("a value over the bound is stored")
		}
	})
}

// seed stores a certificate as if the authority had issued it.
func (m *Manager) seed(t testing.TB, name string, from, to time.Time,
	change ...func(*x509.Certificate)) pebbletest.Made {
	t.Helper()
	c, folder := pebbletest.SelfSigned(t, name, from, to, change...), strings.TrimSuffix(string(m.key(name)), ".crt")
	for _, f := range []file{{".key", c.Key}, {".crt", c.Chain}, {".json", []byte(`{"sans": ["` + name + `"]}`)}} {
		if err := m.storage.Store(t.Context(), folder+f.key, f.value); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestCertificatesChangeAtOnce interrupts the storing of a renewed certificate after each
// of its files: readers see the old files or the new ones.
func TestCertificatesChangeAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		s, now := newStorage(db), time.Now()
		folder := "certificates/ca/x.example/x.example"
		old := pebbletest.SelfSigned(t, "x.example", now, now.Add(time.Hour))
		renewed := pebbletest.SelfSigned(t, "x.example", now, now.Add(day))
		check := func(want pebbletest.Made) {
			t.Helper()
			key, err := s.Load(t.Context(), folder+".key")
			chain, err2 := s.Load(t.Context(), folder+".crt")
			if err != nil || err2 != nil || !bytes.Equal(key, want.Key) || !bytes.Equal(chain, want.Chain) {
				t.Error("the files are not those of one certificate", err, err2)
			}
		}
		put := func(extension string, value []byte) {
			t.Helper()
			if err := s.Store(t.Context(), folder+extension, value); err != nil {
				t.Fatal(err)
			}
		}
		put(".key", old.Key)
		put(".crt", old.Chain)
		put(".json", []byte("{}"))
		check(old)
		put(".key", renewed.Key)
		check(old)
		put(".crt", renewed.Chain)
		check(old)
		s = newStorage(db) // the process died
		put(".json", []byte("{}"))
		check(old)
		put(".key", renewed.Key)
		put(".crt", renewed.Chain)
		put(".json", []byte("{}"))
		check(renewed)
		if len(s.unfinished) != 0 {
			t.Error("finished files are kept in memory")
		}
	})
}
