package backup

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// bucketAt returns the address of a prefix in S3, and what is there.
func bucketAt(t *testing.T, prefix string) (address string, backend *s3mem.Backend) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend = s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("partNumber") {
			unchunk(t, r)
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return "s3://backups/" + prefix + "?endpoint=" + server.URL, backend
}

// unchunk takes the signatures out of the body of a part, which the fake server does for whole
// objects alone.
func unchunk(t *testing.T, r *http.Request) {
	var body bytes.Buffer
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		size, _, _ := strings.Cut(line, ";")
		n, parseErr := strconv.ParseInt(size, 16, 64)
		if err := errors.Join(err, parseErr); err != nil {
			t.Error(err)
			return
		}
		if n == 0 {
			break
		}
		if _, err := io.CopyN(&body, in, n); err != nil {
			t.Error(err)
			return
		}
		in.Discard(len("\r\n"))
	}
	r.Header.Set("Content-Length", strconv.Itoa(body.Len()))
	r.ContentLength, r.Body = int64(body.Len()), io.NopCloser(&body)
}

// objects lists what a bucket has.
func objects(t *testing.T, backend *s3mem.Backend) (names []string) {
	t.Helper()
	list, err := backend.ListBucket("backups", nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range list.Contents {
		names = append(names, object.Key)
	}
	return names
}

// putObject makes or changes an object.
func putObject(t *testing.T, backend *s3mem.Backend, name, content string) {
	t.Helper()
	if _, err := backend.PutObject("backups", name, map[string]string{}, strings.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// A backup in S3 has the files that one in a folder has, under the same names; it is whole,
// comes back as it was, and leaves nothing on this machine.
func TestBucket(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		t.Setenv("TMPDIR", t.TempDir())
		address, backend := bucketAt(t, "ours/today")
		s, to := source(t, db), t.TempDir()
		large := strings.Repeat("0123456789abcdef", 17<<16) // is sent in parts
		write(t, s.DataDir, "clicks/a/2.v1", large)
		m, err := Write(t.Context(), s, address)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"ours/today/" + manifestName}
		for _, f := range m.Files {
			want = append(want, "ours/today/"+f.Path)
		}
		slices.Sort(want)
		if got := objects(t, backend); !slices.Equal(got, want) {
			t.Errorf("the bucket has %v, want %v", got, want)
		}
		if verified, err := Verify(t.Context(), address); err != nil || verified.Installation != "ours" {
			t.Errorf("verified %+v, %v", verified, err)
		}
		b := opened(t, address)
		into, open := target(t, db.Dialect().Name, to)
		if err := b.Restore(t.Context(), to, into); err != nil {
			t.Fatal(err)
		}
		wantFiles := []string{"assets/one.png", "clicks/a/1.v1", "clicks/a/2.v1", "clicks/b/7.v1", "events/s1.parquet", "session-key.json"}
		if got := filesBelow(t, to); !slices.Equal(got, wantFiles) {
			t.Errorf("restored %v, want %v", got, wantFiles)
		}
		if text, err := os.ReadFile(filepath.Join(to, "clicks/a/2.v1")); err != nil || string(text) != large {
			t.Errorf("of the large file there are %d bytes, %v", len(text), err)
		}
		name, err := store.One(t.Context(), open(), store.Value[string], "SELECT display_name FROM users")
		if err != nil || !strings.Contains(name, "Ü") {
			t.Errorf("%q, %v", name, err)
		}
		if _, err := Write(t.Context(), s, address); err == nil || !strings.Contains(err.Error(), "under which nothing is") {
			t.Errorf("a second backup to the prefix: %v", err)
		}
		b.Close()
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 || err != nil {
			t.Errorf("left on this machine are %v, %v", left, err)
		}
		putObject(t, backend, "ours/today/assets/one.png", "imagE")
		if _, err := Verify(t.Context(), address); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), "assets/one.png") {
			t.Errorf("an object that was changed: %v", err)
		}
		if _, err := backend.DeleteObject("backups", "ours/today/"+manifestName); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), "did not end") {
			t.Errorf("without a manifest: %v", err)
		}
	})
}

// A service that fails in the middle leaves no backup.
func TestBucketAway(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "session-key.json") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	address := "s3://backups/ours?endpoint=" + server.URL
	if _, err := Write(t.Context(), source(t, db), address); !errors.Is(err, blob.ErrAway) {
		t.Fatalf("%v", err)
	}
	if got := objects(t, backend); len(got) == 0 || slices.Contains(got, "ours/"+manifestName) {
		t.Errorf("the bucket has %v", got)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 || err != nil {
		t.Errorf("left on this machine are %v, %v", left, err)
	}
}

// What has its name once, and is in the backup beside, is there only once on the disk; unless it
// is damaged there.
func TestLinked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s, parent := source(t, db), filepath.Join(t.TempDir(), "with [brackets]")
		again := func(name string, linked int) (dir string) {
			t.Helper()
			dir = filepath.Join(parent, name)
			m, err := Write(t.Context(), s, dir)
			if err != nil {
				t.Fatal(err)
			}
			if m.Linked != linked {
				t.Errorf("%s: %d files are linked, want %d", name, m.Linked, linked)
			}
			if _, err := Verify(t.Context(), dir); err != nil {
				t.Error(err)
			}
			return dir
		}
		same := func(a, b, name string) bool {
			t.Helper()
			first, err1 := os.Stat(filepath.Join(a, name))
			second, err2 := os.Stat(filepath.Join(b, name))
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			return os.SameFile(first, second)
		}
		one := again("1", 0)
		write(t, s.DataDir, "assets/two.png", "second")
		two := again("2", 2)
		if !same(one, two, "assets/one.png") || !same(one, two, "events/s1.parquet") || same(one, two, "clicks/a/1.v1") ||
			same(one, two, "session-key.json") {
			t.Error("other files are shared than those that have their name once")
		}
		// The backup before may go.
		if err := os.RemoveAll(one); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), two); err != nil {
			t.Error(err)
		}
		write(t, two, "assets/one.png", "imagE")
		three := again("3", 2)
		if same(two, three, "assets/one.png") || !same(two, three, "assets/two.png") {
			t.Error("a damaged file is shared, or one that is not damaged is copied")
		}
		// What did not end counts for nothing.
		if err := os.Remove(filepath.Join(three, manifestName)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(two, manifestName)); err != nil {
			t.Fatal(err)
		}
		again("4", 0)
	})
}

// What a killed process left, with a copy of a database, goes with the next backup; what may be in use stays.
func TestLeftFolders(t *testing.T) {
	in, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"waymark-backup-old": leftFor, "waymark-backup-young": leftFor - time.Second,
		"another-old": 10 * leftFor} {
		write(t, filepath.Join(in, name), "database/waymark.db", "x")
		if err := os.Chtimes(filepath.Join(in, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, in, "waymark-backup-file", "x")
	if err := removeLeft(in, now); err != nil {
		t.Fatal(err)
	}
	want := []string{"another-old/database/waymark.db", "waymark-backup-file", "waymark-backup-young/database/waymark.db"}
	if got := filesBelow(t, in); !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
}
