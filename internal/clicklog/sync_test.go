package clicklog

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// disk notes what is synced, and fails as told.
type disk struct {
	mu     sync.Mutex
	synced []string
	// failing is a pattern of the files and folders that cannot be synced; failed
	// counts how often.
	failing string
	failed  int
}

// fail has the next syncs of some files fail, and returns how many did until now.
func (d *disk) fail(pattern string) (failed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	failed = d.failed
	d.failing, d.failed, d.synced = pattern, 0, nil
	return failed
}

func (d *disk) fsync(f *os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if match, err := filepath.Match(d.failing, f.Name()); match || err != nil {
		d.failed++
		return syscall.EIO
	}
	if err := f.Sync(); err != nil { // it is closed, say
		return err
	}
	d.synced = append(d.synced, f.Name())
	return nil
}

// wants compares what was synced since the last call.
func (d *disk) wants(t *testing.T, paths ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.synced, paths) {
		t.Fatalf("synced %q, want %q", d.synced, paths)
	}
	d.synced = nil
}

// journal is what a log tells, read while its syncer still writes.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// onDisk opens a log that syncs to d, and returns what it logs, too.
func onDisk(t *testing.T, dir string, d *disk) (*Log, *journal) {
	t.Helper()
	var told journal
	l, err := openWith(dir, slog.New(slog.NewTextHandler(&told, nil)), d.fsync)
	if err != nil {
		t.Fatal(err)
	}
	return l, &told
}

// fillSegment appends until the active segment is followed by another one.
func fillSegment(t *testing.T, l *Log) {
	t.Helper()
	e := sample()
	e.ReferrerHost = strings.Repeat("x", 60_000)
	for first := l.active; l.active == first; {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

// unsynced counts the sealed files that are still open.
func unsynced(l *Log) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unsynced)
}

// Within 50 ms of a write it is on the disk, with the names that lead to it: each once.
func TestSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, parent := &disk{}, t.TempDir()
		dir := filepath.Join(parent, "clicks")
		l, _ := onDisk(t, dir, d)
		defer l.Close()
		own := l.own.path
		file := func(number string) string { return filepath.Join(own, number+extension) }
		d.wants(t, dir, parent)
		time.Sleep(50 * time.Millisecond)
		d.wants(t, own) // for the first file

		add(t, l, 1)
		time.Sleep(50*time.Millisecond - time.Nanosecond)
		d.wants(t)
		time.Sleep(time.Nanosecond)
		d.wants(t, file("1"), own) // for the second
		add(t, l, 3)
		time.Sleep(50 * time.Millisecond)
		d.wants(t, file("1"))
		time.Sleep(time.Minute)
		d.wants(t)

		fillSegment(t, l)
		time.Sleep(50 * time.Millisecond)
		d.wants(t, file("1"), file("2"), own)
		if unsynced(l) > 0 {
			t.Error("a sealed file is still open")
		}
		// So is one that ends because all of it was read, though no write follows.
		drain(t, l)
		time.Sleep(sealAfter)
		d.fail("")
		if err := l.Done(&Batch{}); err != nil || unsynced(l) != 1 {
			t.Errorf("%d files are sealed, %v", unsynced(l), err)
		}
		time.Sleep(50 * time.Millisecond)
		d.wants(t, file("2"))
		if unsynced(l) > 0 {
			t.Error("a sealed file is still open")
		}
		add(t, l, 1)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		d.wants(t, file("3"))
	})
}

// What could not be synced is tried again until it is, and told of once a minute.
func TestSyncIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		path func(l *Log) string
		want []string // what is synced when it can be
	}{
		"active": {func(l *Log) string { return l.active.path }, []string{"2.v1"}},
		"sealed": {func(l *Log) string { return l.unsynced[0].Name() }, []string{"1.v1", "2.v1"}},
		"folder": {func(l *Log) string { return l.own.path }, []string{"2.v1", "folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &disk{}
				l, told := onDisk(t, t.TempDir(), d)
				defer l.Close()
				add(t, l, 1)
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				fillSegment(t, l)
				d.fail(c.path(l))
				time.Sleep(time.Minute)
				synctest.Wait()
				if failed := d.fail(""); failed < 1000 || strings.Count(told.String(), "not synced") != 1 {
					t.Errorf("tried %d times in a minute, and told: %s", failed, told)
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				for i, path := range d.synced {
					if d.synced[i] = filepath.Base(path); path == l.own.path {
						d.synced[i] = "folder"
					}
				}
				d.wants(t, c.want...)
				time.Sleep(time.Minute)
				d.wants(t)
			})
		})
	}
}

// Files that cannot be synced stay open; they have a bound, and clicks have none.
func TestUnsyncedFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, _ := onDisk(t, t.TempDir(), d)
		defer l.Close()
		d.fail(filepath.Join(l.dir, "*", "*"))
		for range 16 {
			add(t, l, 1)
			fillSegment(t, l)
		}
		last := l.active
		e := sample()
		e.ReferrerHost = strings.Repeat("x", 60_000)
		for range 2 * (4 << 20) / 60_000 {
			if err := l.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		if n := unsynced(l); l.active != last || n != 16 {
			t.Errorf("%d files wait, active is %d, was %d", n, l.active.number, last.number)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if drain(t, l); l.active != last {
			t.Error("a segment ended because it was old, with too many open")
		}
		d.fail("")
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if add(t, l, 1); l.active == last || unsynced(l) != 1 {
			t.Errorf("%d files wait after they could be synced", unsynced(l))
		}
		file := l.active.file
		d.fail(file.Name())
		if err := l.Close(); !errors.Is(err, syscall.EIO) {
			t.Errorf("closed without being synced: %v", err)
		}
		if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the file is still open: %v", err)
		}
	})
}

// The log says at once that files cannot be synced, and again every minute.
func TestUnsyncedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, told := onDisk(t, t.TempDir(), d)
		defer l.Close()
		d.fail(filepath.Join(l.dir, "*", "*"))
		add(t, l, 1)
		for _, c := range []struct {
			wait time.Duration
			want int
		}{
			{50*time.Millisecond - 1, 0}, {1, 1}, {time.Minute - 1, 1}, {1, 2}, {time.Minute - 1, 2}, {1, 3},
		} {
			time.Sleep(c.wait)
			synctest.Wait()
			if n := strings.Count(told.String(), "click log not synced"); n != c.want {
				t.Errorf("told %d times, want %d", n, c.want)
			}
		}
		d.fail("")
	})
}

// A log whose folder cannot be made durable is not opened, and leaves nothing.
func TestOpenSyncs(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "clicks")
	for _, path := range []string{parent, dir} {
		d := &disk{failing: path}
		if l, err := openWith(dir, slog.New(slog.DiscardHandler), d.fsync); err == nil {
			l.Close()
			t.Errorf("opened without %s being synced", path)
		}
		empty(t, dir)
	}
}
