package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	name    = "0123456789abcdef0123456789abcdef.png"
	another = "ffffffffffffffffffffffffffffffff.jpg"
)

// service is an S3 service whose answers a test can replace.
type service struct {
	*httptest.Server
	backend gofakes3.Backend
	mu      sync.Mutex
	answer  http.HandlerFunc
}

func newService(t *testing.T) *service {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	s := &service{backend: s3mem.New()}
	if err := s.backend.CreateBucket("images"); err != nil {
		t.Fatal(err)
	}
	real := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		if answer == nil {
			answer = real.ServeHTTP
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) answerWith(f http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *service) store(t *testing.T, path string) *bucket {
	t.Helper()
	opened, err := Open("s3://"+path+"?endpoint="+s.URL, "", Images)
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*bucket)
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	opened, err := Open("file", t.TempDir(), Images)
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*folder)
}

// each runs f on an empty store of each kind.
func each(t *testing.T, f func(t *testing.T, s Store)) {
	t.Run("file", func(t *testing.T) { f(t, newFolder(t)) })
	t.Run("S3", func(t *testing.T) { f(t, newService(t).store(t, "images")) })
	t.Run("S3 with a prefix", func(t *testing.T) { f(t, newService(t).store(t, "images/of/waymark/")) })
}

func put(t *testing.T, s Store, name, content string) {
	t.Helper()
	if err := s.Put(t.Context(), name, "image/png", strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s Store, name string) string {
	t.Helper()
	object, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(object)
	if err != nil {
		t.Errorf("after %d bytes: %v", len(content), err)
	}
	if err := object.Close(); err != nil {
		t.Error(err)
	}
	return string(content)
}

func names(t *testing.T, s Store) (all []string) {
	t.Helper()
	if err := s.Names(t.Context(), func(name string) error { all = append(all, name); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func TestStore(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("an empty store: %v", err)
		}
		if _, err := s.Open(t.Context(), name); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrAway) {
			t.Errorf("an absent object: %v", err)
		}
		if err := s.Delete(t.Context(), name); err != nil {
			t.Errorf("an absent object cannot be removed: %v", err)
		}
		put(t, s, name, "one")
		put(t, s, another, strings.Repeat("x", 1<<20))
		put(t, s, name, "one") // again, as a client that saw no answer does
		if got := get(t, s, name); got != "one" {
			t.Errorf("%q", got)
		}
		if got := get(t, s, another); len(got) != 1<<20 {
			t.Errorf("%d bytes of the largest object", len(got))
		}
		if got := names(t, s); !slices.Equal(got, []string{name, another}) {
			t.Errorf("%v", got)
		}
		stop := errors.New("stop")
		if err := s.Names(t.Context(), func(string) error { return stop }); !errors.Is(err, stop) ||
			errors.Is(err, ErrAway) {
			t.Errorf("the sweep's own error: %v", err)
		}
		object, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer object.Close()
		if _, err := object.Seek(1, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(object); err != nil || string(rest) != "ne" {
			t.Errorf("%q %v", rest, err)
		}
		for range 2 {
			if err := s.Delete(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Open(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("a removed object: %v", err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if got := names(t, s); !slices.Equal(got, []string{another}) {
			t.Errorf("%v is left; a check removes what it stores", got)
		}
	})
}

// Part of a file is stored from where its reader stands.
func TestPosition(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		file, err := os.Create(filepath.Join(t.TempDir(), "upload"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString("before, object, after"); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Seek(8, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), name, "image/png", file, 6); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, name); got != "object" {
			t.Errorf("%q", got)
		}
	})
}

func TestNamesOfOthers(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		for _, wrong := range []string{
			"", ".", "..", "../" + name, "/" + name, "x/" + name, name + "/", name + "\n", name + "\x00", "%2e%2e",
			strings.ToUpper(name),
			name[1:], "0" + name, strings.TrimSuffix(name, ".png"), strings.TrimSuffix(name, "png") + "svg",
			name + ".png", unfinished + "1",
		} {
			if _, err := s.Open(t.Context(), wrong); !errors.Is(err, ErrNotFound) {
				t.Errorf("read %q: %v", wrong, err)
			}
			if err := s.Put(t.Context(), wrong, "image/png", strings.NewReader("x"), 1); err == nil {
				t.Errorf("stored %q", wrong)
			}
			if err := s.Delete(t.Context(), wrong); err == nil {
				t.Errorf("removed %q", wrong)
			}
		}
		for _, size := range []int64{-1, 1<<20 + 1} {
			if err := s.Put(t.Context(), name, "image/png", bytes.NewReader(make([]byte, 1<<20+1)),
				size); err == nil || errors.Is(err, ErrAway) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		if err := s.Put(t.Context(), name, "image/png", strings.NewReader("short"), 9); err == nil {
			t.Error("stored more bytes than there are")
		}
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v", got)
		}
		for _, size := range []int64{0, 1 << 20} { // as few and as many bytes as there may be
			if err := s.Put(t.Context(), name, "image/png", bytes.NewReader(make([]byte, size)), size); err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
			if got := get(t, s, name); int64(len(got)) != size {
				t.Errorf("%d bytes came back, want %d", len(got), size)
			}
		}
	})
}

// Many at once, also of the same name, leave whole objects.
func TestConcurrency(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		var running sync.WaitGroup
		content := strings.Repeat("content", 1000)
		for n := range 40 {
			running.Go(func() {
				own := fmt.Sprintf("%032x.png", n)
				for _, name := range []string{name, own} {
					if err := s.Put(t.Context(), name, "image/png", strings.NewReader(content),
						int64(len(content))); err != nil {
						t.Error(err)
					} else if object, err := s.Open(t.Context(), name); err != nil {
						t.Error(err)
					} else if got, err := io.ReadAll(object); err != nil || string(got) != content {
						t.Errorf("%d bytes, %v", len(got), err)
					}
				}
				if err := s.Delete(t.Context(), own); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		if got := names(t, s); !slices.Equal(got, []string{name}) {
			t.Errorf("%v", got)
		}
	})
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open("file", dir, Images); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "assets")
	f := &folder{path: path, kind: Images, fsync: (*os.File).Sync}
	put(t, f, name, "x")
	for p, want := range map[string]os.FileMode{path: 0o700, filepath.Join(path, name): 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	// What a crash left goes after an hour; what is being written, and what is
	// not ours, stays.
	old := time.Now().Add(-2 * unfinishedFor)
	for left, at := range map[string]time.Time{unfinished + "old": old, unfinished + "new": time.Now(), "README": old} {
		if err := os.WriteFile(filepath.Join(path, left), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(path, left), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open("file", dir, Images); err != nil {
		t.Fatal(err)
	}
	leftovers(t, path)
	// So does what is left later, when something is stored an hour after the last time.
	if err := os.WriteFile(filepath.Join(path, unfinished+"old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(path, unfinished+"old"), old, old); err != nil {
		t.Fatal(err)
	}
	put(t, f, name, "x") // which looked when it stored for the first time
	if _, err := os.Stat(filepath.Join(path, unfinished+"old")); err != nil {
		t.Error(err)
	}
	f.tidied.Store(old.UnixNano())
	put(t, f, name, "x")
	leftovers(t, path)
	if got := names(t, f); !slices.Equal(got, []string{name}) {
		t.Errorf("%v", got)
	}
}

func leftovers(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{unfinished + "new", name, "README"}; !slices.Equal(left, want) {
		t.Errorf("%v, want %v", left, want)
	}
}

// A failed Put leaves nothing, and a folder that cannot be used is away.
func TestFolderAway(t *testing.T) {
	f := newFolder(t)
	cause := errors.New("upload broke off")
	if err := f.Put(t.Context(), name, "image/png", brokenReader{cause}, 5); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(f.path); err != nil || len(entries) != 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	for what, err := range attemptAll(t.Context(), f) {
		if what == "open" || what == "delete" {
			continue // a folder that is gone holds nothing
		}
		doing := map[string]string{"put": "store " + name, "names": "list " + f.path, "check": "store "}[what]
		if !errors.Is(err, ErrAway) || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), ": "+doing) {
			t.Errorf("%s: %v, want %q", what, err, doing)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("file", file, Images); !errors.Is(err, ErrAway) {
		t.Errorf("a file as the data folder: %v", err)
	}
}

type brokenReader struct{ error }

func (b brokenReader) Read([]byte) (int, error)       { return 0, b.error }
func (b brokenReader) Seek(int64, int) (int64, error) { return 0, nil }

// attemptAll returns the outcome of each call of a store.
func attemptAll(ctx context.Context, s Store) map[string]error {
	_, err := s.Open(ctx, name)
	return map[string]error{
		"put":    s.Put(ctx, name, "image/png", strings.NewReader("x"), 1),
		"open":   err,
		"delete": s.Delete(ctx, name),
		"names":  s.Names(ctx, func(string) error { return nil }),
		"check":  s.Check(ctx),
	}
}
