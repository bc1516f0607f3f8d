package segments

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/parquet-go/parquet-go"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// service starts an S3 service with a bucket and returns the address of a store there,
// and how many objects were fetched.
func service(t *testing.T) (address string, fetched *atomic.Int64) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	backend := s3mem.New()
	if err := backend.CreateBucket("events"); err != nil {
		t.Fatal(err)
	}
	real := gofakes3.New(backend).Server()
	fetched = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, extension) {
			fetched.Add(1)
		}
		real.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return "s3://events/of/waymark?endpoint=" + s.URL, fetched
}

// processes returns the engines of two processes with segments in one store, and their
// data folders.
func processes(t *testing.T, db *store.DB, address string) (engines [2]*Engine, dirs [2]string) {
	t.Helper()
	for i := range engines {
		dirs[i] = t.TempDir()
		s, err := blob.Open(address, dirs[i], blob.Segments(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		engines[i] = openOn(t, db, s)
	}
	return engines, dirs
}

// Two processes with segments in S3, each with files that it keeps.
func TestS3(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		address, fetched := service(t)
		engines, dirs := processes(t, db, address)
		one, two, g := engines[0], engines[1], newTraffic()
		all := load(t, one, g.batch(100))
		seal(t, one)
		all = append(all, load(t, two, g.batch(100))...)
		seal(t, two)
		all = append(all, load(t, one, g.batch(100))...)
		for range 3 {
			once(t, one, all)
			once(t, two, all)
		}
		if n := fetched.Load(); n != 4 {
			t.Errorf("2 files were fetched %d times by 2 processes", n)
		}
		// A file that is damaged on the disk of a process is fetched once more.
		copies := filepath.Join(dirs[0], "events-cache")
		kept, err := os.ReadDir(copies)
		if err != nil || len(kept) != 2 {
			t.Fatalf("%v, %v", kept, err)
		}
		for _, f := range kept {
			if err := os.WriteFile(filepath.Join(copies, f.Name()), []byte("nonsense"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		one.Close()
		s, err := blob.Open(address, dirs[0], blob.Segments(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		one = openOn(t, db, s)
		once(t, one, all)
		if n := fetched.Load(); n != 6 {
			t.Errorf("%d fetched, want 2 more", n)
		}
		// What is replaced leaves the disks, too.
		if _, err := one.Sweep(t.Context(), g.at.Add(time.Hour), 1000); err != nil {
			t.Fatal(err)
		}
		c.Move(grace)
		rest(t, one)
		rest(t, two)
		once(t, two, nil)
		for _, dir := range dirs {
			if kept, err := os.ReadDir(filepath.Join(dir, "events-cache")); err != nil || len(kept) != 0 {
				t.Errorf("%v is left, %v", kept, err)
			}
		}
		if err := s.Names(t.Context(), func(name string) error {
			t.Errorf("%s is left", name)
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// A file says nothing but what its columns are for.
func TestColumns(t *testing.T) {
	e := open(t, storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{}), t.TempDir())
	b := newTraffic().batch(100)
	for i := range b.Events {
		b.Events[i].Link.Hostname, b.Events[i].Link.Slug = "hostname.example", "the-slug"
	}
	load(t, e, b)
	seal(t, e)
	var content []byte
	if err := e.Files.Names(t.Context(), func(name string) error {
		o, err := e.Files.Open(t.Context(), name)
		if err == nil {
			content, err = io.ReadAll(o)
			o.Close()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, c := range f.Schema().Columns() {
		columns = append(columns, strings.Join(c, "."))
	}
	want := []string{"app", "occurred_at", "id", "type", "link", "visitor", "install", "device", "os", "browser", "source",
		"country", "referrer", "rule", "destination"}
	if !slices.Equal(columns, want) {
		t.Errorf("columns %v, want %v", columns, want)
	}
	for _, secret := range []string{"hostname.example", "the-slug", b.Events[0].Link.ID, app} {
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("the file has %q", secret)
		}
	}
}

// Links asks no segment: a file that is away does not stop it.
func TestLinksOpensNoFile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, b := open(t, db, dir), newTraffic().batch(20)
		load(t, e, b)
		seal(t, e)
		if err := os.Remove(filepath.Join(dir, "events", files(t, dir)[0])); err != nil {
			t.Fatal(err)
		}
		want := b.Events[0].Link
		links, err := open(t, db, dir).Links(t.Context(), app, []string{want.ID, "unknown"})
		if got := links[want.ID]; err != nil || len(links) != 1 || got.Slug != want.Slug {
			t.Errorf("%+v, %v; want %+v", links, err, want)
		}
	})
}

// Who comes too late for a file that was replaced looks again; a file that the manifest
// has is missing.
func TestReplacedFile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, other, g := open(t, db, dir), open(t, db, dir), newTraffic()
		all := load(t, e, g.batch(10))
		seal(t, e)
		old := manifest(t, e)
		if _, err := other.rewrite(t.Context(), old, false, everything); err != nil {
			t.Fatal(err)
		}
		c.Move(grace)
		rest(t, other)
		if n := len(files(t, dir)); n != 1 {
			t.Fatalf("%d files", n)
		}
		e.open.close()
		if _, err := e.openAll(t.Context(), old); !errors.Is(err, errGone) || !lost(err) {
			t.Errorf("a file that was replaced: %v", err)
		}
		once(t, e, all)
		e.open.close()
		if err := os.Remove(filepath.Join(dir, "events", files(t, dir)[0])); err != nil {
			t.Fatal(err)
		}
		if _, err := e.openAll(t.Context(), manifest(t, e)); !errors.Is(err, errMissing) {
			t.Errorf("a file that is lost: %v", err)
		}
	})
}

// Questions go on while segments are replaced all the time, and see each event once.
func TestQuestionsMeanwhile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, other, g := open(t, db, dir), open(t, db, dir), newTraffic()
		all := load(t, e, g.batch(50), g.batch(50), g.batch(50))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ctx.Err() == nil; n++ {
				list, err := entries(ctx, db, "")
				if err == nil {
					_, err = other.rewrite(ctx, list, n%2 == 0, everything)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}()
		for range 50 {
			rows, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: ever})
			if err != nil || rows[0].Events != int64(len(all)) {
				t.Fatalf("%+v, %v", rows, err)
			}
		}
		cancel()
		<-done
	})
}

// Run does what there is to do, and ends when it is told to.
func TestRun(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, g := open(t, db, dir), newTraffic()
		var all []int64
		for range youngFanIn {
			all = append(all, load(t, e, g.batch(3))...)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.Run(ctx)
		}()
		storetest.Eventually(t, "the young segments are merged", func() bool { return len(manifest(t, e)) == 1 })
		c.Move(24 * time.Hour)
		storetest.Eventually(t, "the day is sealed", func() bool { return len(files(t, dir)) == 1 })
		cancel()
		<-done
		once(t, e, all)
	})
}

// Segments that nobody uses are closed when there are many.
func TestOpenFilesAreFew(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	dir := t.TempDir()
	e, g := open(t, db, dir), newTraffic()
	var all []int64
	for range maxOpen + 20 {
		all = append(all, load(t, e, g.batch(1))...)
		seal(t, e)
	}
	once(t, e, all)
	storetest.Eventually(t, "the others are closed", func() bool { return len(storetest.OpenFiles(t, dir)) == maxOpen })
	e.Close()
	storetest.Eventually(t, "all are closed", func() bool { return len(storetest.OpenFiles(t, dir)) == 0 })
	once(t, e, all)
}

// Segments of a store with a cache stay open only as far as the cache is large.
func TestOpenFilesAreSmall(t *testing.T) {
	address, _ := service(t)
	dir := t.TempDir()
	const size = 10_000
	s, err := blob.Open(address, dir, blob.Segments(size))
	if err != nil {
		t.Fatal(err)
	}
	e, g := openOn(t, storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{}), s), newTraffic()
	var all []int64
	for range 12 {
		all = append(all, load(t, e, g.batch(5))...)
		seal(t, e)
	}
	once(t, e, all)
	bytes := int64(0)
	for _, s := range manifest(t, e) {
		bytes = max(bytes, s.bytes)
	}
	want := size / int(bytes)
	if want < 2 || want > 6 {
		t.Fatalf("files of %d bytes do not show it", bytes)
	}
	if n := len(storetest.OpenFiles(t, dir)); n > want+1 || n < want-1 {
		t.Errorf("%d files stay open, want some %d", n, want)
	}
}

// A process that takes no steps forgets what was replaced as well.
func TestReplacedFilesAreClosed(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	address, _ := service(t)
	engines, dirs := processes(t, db, address)
	one, two := engines[0], engines[1]
	two.open = newOpenFiles(db, two.Files, time.Millisecond)
	t.Cleanup(two.open.close)
	all := load(t, one, newTraffic().batch(5))
	seal(t, one)
	for range 2 { // it looks again
		once(t, two, all)
		if _, err := one.rewrite(t.Context(), manifest(t, one), false, everything); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "the replaced file is closed and removed", func() bool {
			kept, err := os.ReadDir(filepath.Join(dirs[1], "events-cache"))
			return err == nil && len(kept) == 0 && len(storetest.OpenFiles(t, dirs[1])) == 0
		})
	}
	two.open.mu.Lock()
	defer two.open.mu.Unlock()
	if len(two.open.intact) != 0 || two.open.bytes != 0 {
		t.Errorf("%d checksums and %d bytes are remembered", len(two.open.intact), two.open.bytes)
	}
}

// A store without the newest file that the manifest names is found to be another one.
func TestCheckNewest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		var stores []blob.Store
		for range 2 {
			s, err := blob.Open("file", t.TempDir(), blob.Segments(0))
			if err != nil {
				t.Fatal(err)
			}
			stores = append(stores, s)
		}
		e := openOn(t, db, stores[0])
		load(t, e, newTraffic().batch(100))
		if err := CheckNewest(t.Context(), db, stores[1]); err != nil {
			t.Errorf("without files: %v", err)
		}
		seal(t, e)
		if err := CheckNewest(t.Context(), db, stores[0]); err != nil {
			t.Error(err)
		}
		if err := CheckNewest(t.Context(), db, stores[1]); !errors.Is(err, errMissing) {
			t.Errorf("another store: %v", err)
		}
	})
}
