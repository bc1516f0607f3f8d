package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// segmentName is the name of a segment with a number.
func segmentName(n int) string { return fmt.Sprintf("%032x.parquet", n) }

// cached returns an S3 store with a cache of some bytes in a folder, and counts what is
// fetched from the service.
func cached(t *testing.T, bytes int64) (s *service, store *cache, dir string, fetched *atomic.Int64) {
	t.Helper()
	s, dir, fetched = newService(t), t.TempDir(), &atomic.Int64{}
	opened, err := Open("s3://images/events?endpoint="+s.URL, dir, Segments(bytes))
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("opening the store made %v, %v", left, err)
	}
	real := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".parquet") {
			fetched.Add(1)
		}
		real.ServeHTTP(w, r)
	})
	return s, opened.(*cache), dir, fetched
}

// A folder that cannot be used is told to whoever reads, and used once it can be.
func TestCacheWithoutAFolder(t *testing.T) {
	_, store, dir, _ := cached(t, 30)
	put(t, store, segmentName(1), "one")
	for _, err := range []error{os.Remove(dir), os.WriteFile(dir, nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(t.Context(), segmentName(1)); !errors.Is(err, ErrAway) || errors.Is(err, ErrNotFound) {
		t.Errorf("with a file where the folder should be: %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if got := get(t, store, segmentName(1)); got != "one" {
		t.Errorf("%q", got)
	}
}

// An object is fetched once, also by many at the same time and by the next process; the
// ones that were used longest ago make room.
func TestCache(t *testing.T) {
	_, store, dir, fetched := cached(t, 30)
	for n := range 4 {
		put(t, store, segmentName(n), strings.Repeat(fmt.Sprint(n), 10))
	}
	read := func(n int, want int64) {
		t.Helper()
		if got := get(t, store, segmentName(n)); got != strings.Repeat(fmt.Sprint(n), 10) {
			t.Errorf("%q", got)
		}
		if got := fetched.Load(); got != want {
			t.Errorf("%d fetched, want %d", got, want)
		}
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { get(t, store, segmentName(0)) })
	}
	all.Wait()
	read(0, 1)
	read(1, 2)
	read(2, 3)
	read(0, 3)
	read(3, 4) // 1 goes
	read(0, 4)
	read(2, 4)
	read(1, 5) // 3 goes
	kept, err := os.ReadDir(filepath.Join(dir, "events-cache"))
	if err != nil || len(kept) != 3 {
		t.Errorf("%v, %v", kept, err)
	}
	store = &cache{bucket: store.bucket, dir: store.dir, fetching: map[string]*fetching{}}
	read(0, 5)
	read(2, 5)
	store.Forget(segmentName(0))
	read(0, 6)
	store.Retain(func(name string) bool { return name == segmentName(0) })
	read(0, 6)
	read(2, 7)
	if err := os.Remove(filepath.Join(store.dir, segmentName(2))); err != nil {
		t.Fatal(err)
	}
	read(2, 8)
	if bytes, files := store.bytes, len(store.kept); bytes != int64(10*files) {
		t.Errorf("%d bytes of %d files are known", bytes, files)
	}
	if err := store.Delete(t.Context(), segmentName(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), segmentName(0)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a removed object: %v", err)
	}
	if err := store.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// What a crash left half fetched is removed when the cache is first used; what is whole is kept, and what is not
// the cache's stays.
func TestCacheAfterACrash(t *testing.T) {
	_, store, dir, fetched := cached(t, 30)
	put(t, store, segmentName(1), "one")
	put(t, store, segmentName(2), "two")
	if err := os.Mkdir(filepath.Join(dir, "events-cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{".storing-1", segmentName(1), "readme"} {
		if err := os.WriteFile(filepath.Join(dir, "events-cache", file), []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range []string{"one", "two"} {
		if got := get(t, store, segmentName(n+1)); got != want || fetched.Load() != int64(n) {
			t.Errorf("%q, fetched %d times", got, fetched.Load())
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "events-cache", "*"))
	if err != nil || len(files) != 3 || store.bytes != 6 {
		t.Errorf("%v, %v; %d bytes are known", files, err, store.bytes)
	}
	if unfinished, err := filepath.Glob(filepath.Join(dir, "events-cache", ".storing-*")); err != nil || len(unfinished) > 0 {
		t.Errorf("%v, %v", unfinished, err)
	}
}

// An object that cannot get its name is told to whoever reads it, and nothing is left of it.
func TestCacheWithoutAName(t *testing.T) {
	_, store, dir, _ := cached(t, 30)
	put(t, store, segmentName(1), "one")
	put(t, store, segmentName(2), "two")
	get(t, store, segmentName(1))
	taken := filepath.Join(dir, "events-cache", segmentName(2))
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), segmentName(2)); !errors.Is(err, ErrAway) || !errors.Is(err, syscall.EEXIST) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "events-cache")); err != nil || len(entries) != 2 || store.bytes != 3 {
		t.Errorf("%v, %v; %d bytes are known", entries, err, store.bytes)
	}
	if err := os.Remove(taken); err != nil {
		t.Fatal(err)
	}
	if got := get(t, store, segmentName(2)); got != "two" {
		t.Errorf("%q", got)
	}
}

// What is no name of an object is not asked for.
func TestCacheOfNoName(t *testing.T) {
	_, store, _, fetched := cached(t, 30)
	for _, no := range []string{"", "readme", "../" + segmentName(1), "x/" + segmentName(1)} {
		if _, err := store.Open(t.Context(), no); !errors.Is(err, ErrNotFound) || fetched.Load() > 0 || store.kept != nil {
			t.Errorf("%q: %v, fetched %d times", no, err, fetched.Load())
		}
	}
}

// What was pushed out is kept again when it is fetched again, and what could not be fetched can be
// later.
func TestCacheFetchesAgain(t *testing.T) {
	s, store, _, fetched := cached(t, 10)
	for n := range 2 {
		put(t, store, segmentName(n), strings.Repeat(fmt.Sprint(n), 10))
	}
	for _, c := range []struct{ read, fetched int }{{0, 1}, {1, 2}, {0, 3}, {0, 3}} {
		get(t, store, segmentName(c.read))
		if got := fetched.Load(); got != int64(c.fetched) {
			t.Errorf("%d fetched, want %d", got, c.fetched)
		}
	}
	s.answerWith(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if _, err := store.Open(t.Context(), segmentName(1)); !errors.Is(err, ErrAway) ||
		!strings.Contains(err.Error(), "read "+segmentName(1)+": ") {
		t.Errorf("%v", err)
	}
	s.answerWith(nil)
	get(t, store, segmentName(1))
}

// An object goes to the service in one call, which tells whether all of it is there: none is left in
// parts.
func TestStoredAtOnce(t *testing.T) {
	s, store, _, _ := cached(t, 30)
	real := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("uploads") {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		real.ServeHTTP(w, r)
	})
	put(t, store, segmentName(1), strings.Repeat("x", 33<<20))
}

// Whoever does not wait any more gets an error; the object is fetched all the same. What
// is larger than the cache can be read.
func TestCacheWait(t *testing.T) {
	s, store, _, fetched := cached(t, 5)
	put(t, store, segmentName(1), "more than five")
	begun, goOn := make(chan bool), make(chan bool)
	real := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fetched.Load() == 0 {
			close(begun)
			<-goOn
		}
		real.ServeHTTP(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := store.Open(ctx, segmentName(1)); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrAway) {
		t.Errorf("%v", err)
	}
	close(goOn)
	if got := get(t, store, segmentName(1)); got != "more than five" || fetched.Load() != 1 {
		t.Errorf("%q, fetched %d times", got, fetched.Load())
	}
}

// Each kind of store has names of its own, and both do in one place.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		kind        Kind
		name, other string
		folder      string
		bytes       int64
	}{
		{Images, name, segmentName(1), "assets", 1 << 20}, {Segments(0), segmentName(1), name, "events", 256 << 20},
		{Backups, "database.db", "a name", "", 5 << 40},
	} {
		s, err := Open("file", dir, test.kind)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, test.name, "x")
		if err := s.Put(t.Context(), test.other, "", strings.NewReader("x"), 1); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s stores %s: %v", test.kind.Title, test.other, err)
		}
		if err := s.Put(t.Context(), test.name, "", strings.NewReader("x"), test.bytes+1); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprint(test.bytes)) {
			t.Errorf("%s: too large: %v", test.kind.Title, err)
		}
		if _, err := os.Stat(filepath.Join(dir, test.folder, test.name)); err != nil {
			t.Error(err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := Open("nonsense", dir, test.kind); err == nil || !strings.Contains(err.Error(), test.kind.Title) {
			t.Errorf("%v", err)
		}
	}
}
