package clicklog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func open(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// add appends n events, named by number in their slugs, and returns the IDs.
func add(t testing.TB, l *Log, n int) (ids []int64) {
	t.Helper()
	for i := range n {
		e := sample()
		e.Link.Slug = strconv.Itoa(i)
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// drain takes all events, a few at a time.
func drain(t testing.TB, l *Log) (ids []int64) {
	t.Helper()
	for {
		b, err := l.Next(7)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Events) == 0 {
			return ids
		}
		for _, e := range b.Events {
			ids = append(ids, e.ID)
		}
		if err := l.Done(b); err != nil {
			t.Fatal(err)
		}
	}
}

func same(t testing.TB, got, want []int64) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Fatalf("read %d events, want %d (or others)", len(got), len(want))
	}
}

// abandon makes l's folder look like that of a killed process: unlocked, with
// its files.
func abandon(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// files lists the files with events; the spare one has none.
func files(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*"+extension))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() == 0
	})
}

func empty(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Fatalf("%s holds %v, %v; want nothing", dir, entries, err)
	}
}

// A batch tells which events an ended process wrote: those come first, whenever
// they are taken over.
func TestInherited(t *testing.T) {
	dir := t.TempDir()
	l, other := open(t, dir), open(t, dir)
	add(t, other, 3)
	add(t, l, 3)
	look := func(limit, events, inherited int, left bool) {
		t.Helper()
		b, err := l.Next(limit)
		if err != nil || len(b.Events) != events || b.Inherited != inherited {
			t.Fatalf("%d events, %d of them inherited, %v; want %d, %d", len(b.Events), b.Inherited, err, events,
				inherited)
		}
		if got := l.Inherited(); got != left {
			t.Fatalf("inherited events are left: %v", got)
		}
		if err := l.Done(b); err != nil {
			t.Fatal(err)
		}
	}
	look(1, 1, 0, false) // the other lives
	abandon(t, other)
	l.adopt()
	look(2, 2, 2, true)
	add(t, l, 1)
	look(10, 4, 1, true)
	look(10, 0, 0, false)
	abandon(t, l)
	l = open(t, dir)
	add(t, l, 1)
	if len(drain(t, l)) != 1 || l.Inherited() {
		t.Error("more than its own")
	}
}

func TestNextMovesOnlyWithDone(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	ids := add(t, l, 10)
	for range 2 {
		b, err := l.Next(4)
		if err != nil || len(b.Events) != 4 || b.Events[0].ID != ids[0] || b.Events[3].Link.Slug != "3" {
			t.Fatalf("Next(4) = %+v, %v", b, err)
		}
	}
	same(t, drain(t, l), ids)
	if n := l.Backlog(); n != 0 {
		t.Fatalf("backlog %d after draining", n)
	}
	more := add(t, l, 3)
	if l.Backlog() == 0 {
		t.Fatal("no backlog after Append")
	}
	same(t, drain(t, l), more)
	abandon(t, l)
	empty(t, dir)
	if err := l.Append(sample()); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("Append after Close: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("second Close: %v", err)
	}
}

func TestWake(t *testing.T) {
	l := open(t, t.TempDir())
	drain(t, l) // found nothing: wants to be woken
	add(t, l, 2)
	<-l.Wake()
	add(t, l, 1)
	select {
	case <-l.Wake():
		t.Fatal("woken again without having found nothing")
	default:
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "clicks")
	l := open(t, dir)
	add(t, l, 1)
	for path, want := range map[string]os.FileMode{dir: 0o700, l.own.path: 0o700, files(t, dir)[0]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// Segments end at their size, and go once consumed while the log is open.
func TestSegments(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	e := sample()
	e.ReferrerHost = string(make([]byte, 60_000))
	want := 0
	for len(files(t, dir)) < 3 {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
		want++
	}
	if got := drain(t, l); len(got) != want {
		t.Fatalf("read %d events, want %d", len(got), want)
	}
	if left := files(t, dir); len(left) != 1 {
		t.Fatalf("files left: %v; want the active one", left)
	}
}

// A consumed segment of some age ends, so that a crash has little to repeat.
func TestOldSegmentGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, dir)
		add(t, l, 1)
		drain(t, l)
		if len(files(t, dir)) != 1 {
			t.Fatal("young segment is gone")
		}
		time.Sleep(5 * time.Second)
		add(t, l, 1)
		drain(t, l)
		if left := files(t, dir); len(left) != 0 {
			t.Fatalf("files left: %v", left)
		}
		same(t, drain(t, l), nil)
		add(t, l, 1)
		if got := drain(t, l); len(got) != 1 {
			t.Fatalf("read %d events from the next segment, want 1", len(got))
		}
		l.Close()
	})
}

// Every event is read once, while many append and the loader runs.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	const writers, each = 16, 500
	var mu sync.Mutex
	var want, got []int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			var ids []int64
			for range each {
				e := sample()
				if err := l.Append(e); err != nil {
					t.Error(err)
					return
				}
				ids = append(ids, e.ID)
			}
			mu.Lock()
			want = append(want, ids...)
			mu.Unlock()
		})
	}
	written := make(chan struct{})
	go func() { wg.Wait(); close(written) }()
	for {
		got = append(got, drain(t, l)...)
		select {
		case <-l.Wake():
			continue
		case <-written:
		}
		break
	}
	same(t, append(got, drain(t, l)...), want)
	abandon(t, l)
	empty(t, dir)
}

// A record that was not written whole is cut off, wherever it ends, and all
// records before it are kept.
func TestTornTail(t *testing.T) {
	first := t.TempDir()
	l := open(t, first)
	ids := add(t, l, 3)
	path := files(t, first)[0]
	size := l.active.end
	abandon(t, l)
	whole, err := os.ReadFile(path)
	if err != nil || int64(len(whole)) != size {
		t.Fatalf("%d bytes, %v; want %d", len(whole), err, size)
	}
	var e Event
	two := 0 // the end of the second record: a record's size depends on its ID
	for range 2 {
		n, err := decodeRecord(whole[two:], &e)
		if err != nil {
			t.Fatal(err)
		}
		two += n
	}
	for end := two; end < len(whole); end++ {
		dir := leave(t, whole[:end])
		l := open(t, dir)
		same(t, drain(t, l), ids[:2])
		abandon(t, l)
		empty(t, dir)
	}
}

// leave makes a folder of a dead process with one file.
func leave(t *testing.T, contents []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dead"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dead", "1"+extension), contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDamage(t *testing.T) {
	var whole []byte
	var ids []int64
	for i := range 3 {
		e := sample()
		e.ID = int64(i + 1)
		ids = append(ids, e.ID)
		whole, _ = appendRecord(whole, e)
	}
	one := len(whole) / 3
	flipped := slices.Clone(whole)
	flipped[one+headerSize+2] ^= 0x40
	stranger := []byte{3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}
	binary.LittleEndian.PutUint32(stranger[4:], crc32.Checksum(stranger[8:], castagnoli))
	for name, c := range map[string]struct {
		contents []byte
		want     []int64
		lost     int
	}{
		"byte in the second record": {flipped, []int64{ids[0], ids[2]}, one},
		"a byte too many":           {slices.Concat(whole[:one], []byte{7}, whole[one:]), ids, 1},
		"the checksum of no event":  {slices.Concat(whole[:one], stranger, whole[one:]), ids, 11},
		"zeros in the middle":       {slices.Concat(whole[:one], make([]byte, 3<<20), whole[one:]), ids, 3 << 20},
		"zeros in a whole read":     {slices.Concat(make([]byte, 1<<20-100), whole), ids, 1<<20 - 100},
		"zeros after the end":       {append(slices.Clone(whole), make([]byte, 4096)...), ids, 4096},
		"only zeros":                {make([]byte, 4096), nil, 4096},
		"nothing":                   {nil, nil, 0},
		"a length and no more":      {slices.Concat(whole, []byte{9, 0, 0, 0}), ids, 4},
		"hostile length":            {[]byte{0xff, 0xff, 0xff, 0x7f, 1, 2, 3, 4, 5}, nil, 9},
	} {
		dir := leave(t, c.contents)
		l := open(t, dir)
		t.Log(name)
		same(t, drain(t, l), c.want)
		if l.Lost() != int64(c.lost) {
			t.Errorf("%d bytes lost, want %d", l.Lost(), c.lost)
		}
		abandon(t, l)
		empty(t, dir)
	}
}

// Damage in the file that is being written costs the event that it hit.
func TestDamageInActiveSegment(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	ids := add(t, l, 2)
	f, err := os.OpenFile(files(t, dir)[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0xff}, l.active.end-1); err != nil {
		t.Fatal(err)
	}
	same(t, drain(t, l), ids[:1])
	same(t, drain(t, l), nil)
	more := add(t, l, 2)
	same(t, drain(t, l), more)
	abandon(t, l)
	empty(t, dir)
}

// Two processes share a folder; neither touches what the other writes, and
// the second takes over when the first is gone.
func TestAdoption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		one, two := open(t, dir), open(t, dir)
		first, second := add(t, one, 20), add(t, two, 5)
		same(t, drain(t, two), second)
		abandon(t, one)
		same(t, drain(t, two), nil)
		time.Sleep(30 * time.Second)
		same(t, drain(t, two), first)
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
			t.Fatalf("folders left: %v; want one", left)
		}
		// A crash before Done has the same events come again.
		again := add(t, two, 5)
		if b, err := two.Next(100); err != nil || len(b.Events) != 5 {
			t.Fatalf("Next = %v, %v", b, err)
		}
		abandon(t, two)
		three := open(t, dir)
		if got := drain(t, three); len(got) < len(again) {
			t.Fatalf("read %d events, want at least %d", len(got), len(again))
		}
		abandon(t, three)
		empty(t, dir)
	})
}

// What is not ours stays: files of another version and other files.
func TestForeignFilesStay(t *testing.T) {
	dir := leave(t, nil)
	paths := []string{filepath.Join(dir, "dead", "1.v2"), filepath.Join(dir, "dead", "5"), filepath.Join(dir, "README")}
	for _, path := range paths {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, dir)
	drain(t, l)
	abandon(t, l)
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// A folder in which an ended process left no files is removed, one with files of others stays; neither has events.
func TestFolderWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"empty", "foreign"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "foreign", "1.v2"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	l, err := Open(dir, slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	same(t, drain(t, l), nil)
	abandon(t, l)
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "1.v2" || told.Len() > 0 {
		t.Errorf("%v, %v; told: %s", left, err, &told)
	}
	if _, err := os.Stat(filepath.Join(dir, "empty")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder: %v", err)
	}
}

// The files of an ended process are read in the order of their numbers, which an event store counts on. One
// without events has none that are left.
func TestOrderOfLeftFiles(t *testing.T) {
	dir := leave(t, nil)
	l := open(t, dir)
	if len(l.queue) != 1 || l.Inherited() {
		t.Error("an empty file has events")
	}
	abandon(t, l)
	if err := os.Mkdir(filepath.Join(dir, "dead"), 0o700); err != nil {
		t.Fatal(err)
	}
	contents, _ := records(t, 0)
	for _, number := range []string{"10", "9", "1"} {
		if err := os.WriteFile(filepath.Join(dir, "dead", number+extension), contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, dir)
	b, err := l.Next(10)
	if err != nil || len(b.Runs) != 3 || b.Runs[0].File != 1 || b.Runs[1].File != 9 || b.Runs[2].File != 10 || !l.Inherited() {
		t.Errorf("%+v, %v", b, err)
	}
}

// A file that cannot be closed is told, by whoever should have closed it, and stops nothing.
func TestFileCannotBeClosed(t *testing.T) {
	contents, _ := records(t, 0)
	dir := leave(t, contents)
	if err := os.WriteFile(filepath.Join(dir, "dead", "2"+extension), contents, 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	next := func() (*Batch, error) {
		b, err := l.Next(10)
		if err == nil && len(b.Events) != 2 {
			t.Fatalf("%+v", b)
		}
		l.reader.file.Close() // so that it cannot be closed again
		return b, err
	}
	if _, err := next(); err != nil {
		t.Fatal(err)
	}
	if b, err := next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read %v, %v", b, err)
	}
	b, err := next()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Done(b); !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), "tidy click log: ") {
		t.Errorf("%v", err)
	}
	if left := files(t, dir); len(left) != 0 || l.Backlog() != 0 {
		t.Errorf("files left: %v, backlog %d", left, l.Backlog())
	}
}

// A file of clicks has 4 MiB at most: a record that just fits is its last one.
func TestSegmentIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nobody looks after the file meanwhile
		l, _ := onDisk(t, t.TempDir(), &disk{})
		defer l.Close()
		add(t, l, 1)
		e := sample()
		for free, fits := range map[int]bool{400: true, 399: false} {
			for size := 0; size != 400; { // ids, and so records, have different lengths
				l.active.end = int64(4<<20 - free)
				before := l.active
				if err := l.Append(e); err != nil {
					t.Fatal(err)
				}
				if size = len(l.buf); size == 400 && (l.active == before) != fits {
					t.Errorf("400 bytes are written where %d are free: %t", free, l.active == before)
				}
				e.ReferrerHost = strings.Repeat("x", len(e.ReferrerHost)+400-size)
			}
		}
	})
}

// A file of clicks that are all stored ends after five seconds, and not before.
func TestSealAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := onDisk(t, t.TempDir(), &disk{})
		defer l.Close()
		add(t, l, 2)
		for _, c := range []struct {
			wait time.Duration
			take int
			ends bool
		}{{time.Second, 1, false}, {4*time.Second - 1, 1, false}, {1, 1, true}} {
			time.Sleep(c.wait)
			synctest.Wait()
			b, err := l.Next(c.take)
			if err == nil {
				err = l.Done(b)
			}
			if ended := l.active == nil; err != nil || ended != c.ends {
				t.Errorf("%v; the file has ended: %t", err, ended)
			}
			if open := l.reader.of != nil; open == c.ends {
				t.Errorf("the file is open: %t", open)
			}
		}
	})
}

// A folder that cannot be opened is not one that somebody holds: what is in it would be
// left alone for good, and nobody told.
func TestFolderThatCannotBeOpened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := lockFolder(filepath.Join(file, "folder")); f != nil || err == nil {
		t.Errorf("below a file: %v, %v", f, err)
	}
	if f, err := lockFolder(file + "-gone"); f != nil || err != nil {
		t.Errorf("one that is gone: %v, %v", f, err)
	}
}

// A file beside the folders of click logs is none of ours: it stays, and nothing is said of
// it again and again.
func TestFileBesideTheFolders(t *testing.T) {
	dir := t.TempDir()
	stray := filepath.Join(dir, "stray")
	if err := os.WriteFile(stray, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	l, err := Open(dir, slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Next(10); err != nil { // which looks for folders that were left
		t.Error(err)
	}
	if _, err := os.Stat(stray); err != nil || told.Len() > 0 {
		t.Errorf("%v; told: %s", err, &told)
	}
}
