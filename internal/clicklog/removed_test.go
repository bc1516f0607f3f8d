package clicklog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Where somebody takes the files away that are written, the log notices, goes on in
// new ones, and says what is lost.
func TestRemoved(t *testing.T) {
	for name, take := range map[string]func(l *Log) error{
		"everything": func(l *Log) error { return os.RemoveAll(l.dir) },
		"folder":     func(l *Log) error { return os.RemoveAll(l.own.path) },
		"moved":      func(l *Log) error { return os.Rename(l.own.path, l.dir+".away") },
		"file":       func(l *Log) error { return os.Remove(l.active.path) },
		"replaced": func(l *Log) error {
			path := l.own.path
			return errors.Join(os.Rename(path, l.dir+".away"), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir() + "/clicks"
				l, told := onDisk(t, dir, &disk{})
				defer l.Close()
				add(t, l, 3)
				if err := take(l); err != nil {
					t.Fatal(err)
				}
				add(t, l, 2)
				lost := l.Backlog()
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				ids := add(t, l, 4)
				same(t, drain(t, l), ids)
				same(t, drain(t, l), nil)
				if l.Lost() != lost || l.Backlog() != 0 {
					t.Errorf("%d bytes lost, want %d; backlog %d", l.Lost(), lost, l.Backlog())
				}
				for _, alarm := range []string{"goes on in a new folder", "are lost"} {
					if strings.Count(told.String(), alarm) != 1 {
						t.Errorf("told of %q not once:\n%s", alarm, told)
					}
				}
				abandon(t, l)
				empty(t, dir)
			})
		})
	}
}

// A copy in the place of the folder is noticed also where it has all that was written, and
// where its files are the very same.
func TestReplacedByCopy(t *testing.T) {
	for name, copied := range map[string]func(to, from string) error{
		"copied": func(to, from string) error { return os.CopyFS(to, os.DirFS(from)) },
		"linked": func(to, from string) error {
			file := "/1" + extension
			return errors.Join(os.Mkdir(to, 0o700), os.Link(from+file, to+file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir() + "/clicks"
				l, told := onDisk(t, dir, &disk{})
				defer l.Close()
				path := l.own.path
				ids := add(t, l, 3)
				if err := errors.Join(os.Rename(path, dir+".away"), copied(path, dir+".away")); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				ids = append(ids, add(t, l, 2)...)
				same(t, drain(t, l), ids)
				if l.Lost() != 0 || strings.Count(told.String(), "goes on in a new folder") != 1 {
					t.Errorf("%d bytes lost, and told:\n%s", l.Lost(), told)
				}
				abandon(t, l)
				empty(t, dir)
			})
		})
	}
}

// What is written behind the new end of a file that somebody cut off is found, and the rest
// goes to another one.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, told := onDisk(t, t.TempDir(), &disk{})
		defer l.Close()
		add(t, l, 3)
		lost := l.Backlog()
		if err := os.Truncate(l.active.path, 10); err != nil {
			t.Fatal(err)
		}
		ids := add(t, l, 2)
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		ids = append(ids, add(t, l, 2)...)
		same(t, drain(t, l), ids)
		if l.Lost() != lost || strings.Count(told.String(), "goes on in a new folder") != 1 {
			t.Errorf("%d bytes lost, want %d; told:\n%s", l.Lost(), lost, told)
		}
	})
}

// Nothing is lost where the loader has the file open, or all of it was loaded.
func TestRemovedAndNothingLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/clicks"
		l, told := onDisk(t, dir, &disk{})
		defer l.Close()
		ids := add(t, l, 5)
		b, err := l.Next(2)
		if err != nil || l.Done(b) != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, add(t, l, 2)...)
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		ids = append(ids, add(t, l, 2)...)
		b, err = l.Next(100)
		if err != nil || b.Inherited != 0 {
			t.Fatalf("%d events of an ended process, %v", b.Inherited, err)
		}
		if len(b.Events) != len(ids)-2 || l.Done(b) != nil {
			t.Fatalf("read %d events, want %d", len(b.Events), len(ids)-2)
		}

		// Between two segments, not one click goes into the removed folder.
		time.Sleep(5 * time.Second)
		add(t, l, 1)
		drain(t, l)
		if l.active != nil {
			t.Fatal("the segment has not ended")
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		old := l.own
		ids = add(t, l, 2)
		same(t, drain(t, l), ids)
		if _, err := old.lock.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the removed folder is still open: %v", err)
		}

		// And without clicks, it is noticed when others' folders are looked for.
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		drain(t, l)
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if _, err := os.Stat(l.own.path); err != nil {
			t.Error(err)
		}
		if l.Lost() != 0 || strings.Count(told.String(), "goes on in a new folder") != 3 {
			t.Errorf("%d bytes lost, and told:\n%s", l.Lost(), told)
		}
		abandon(t, l)
		empty(t, dir)
	})
}

// Clicks are refused, not lost unnoticed, while no folder can be made.
func TestRemovedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir() + "/clicks"
		l, told := onDisk(t, dir, &disk{})
		defer l.Close()
		add(t, l, 1)
		drain(t, l)
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		add(t, l, 1)
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		for range 3 {
			if err := l.Append(sample()); err == nil {
				t.Error("a click was taken")
			}
		}
		if !strings.Contains(told.String(), "not synced") {
			t.Errorf("told: %s", told)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		ids := add(t, l, 2)
		if got := drain(t, l); len(got) != 3 { // and the one in the file that the loader has open
			t.Errorf("read %d events, want %d", len(got), len(ids)+1)
		}
		abandon(t, l)
	})
}

// What cannot be removed, or whose folder cannot be synced, is told.
func TestWhatCannotBeRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := remove(path); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("a folder with a file: %v", err)
	}
	if err := remove(filepath.Join(dir, "none")); err != nil {
		t.Errorf("what is gone: %v", err)
	}
}

// What fails while it is read is an error, not the loss of what could not be read.
func TestReadFails(t *testing.T) {
	contents, _ := records(t, 0, 0)
	l, _, told := taken(t, contents)
	path := l.queue[0].path
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if b, err := l.Next(10); !errors.Is(err, syscall.EISDIR) || !strings.Contains(err.Error(), path) {
		t.Errorf("read %v, %v", b, err)
	}
	if l.Lost() != 0 || l.Backlog() != int64(len(contents)) || strings.Contains(told.String(), "lost") {
		t.Errorf("%d bytes lost, backlog %d; told:\n%s", l.Lost(), l.Backlog(), told)
	}
}

// A file that cannot be read just now is told as that, and its events come later.
func TestFileCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, told := onDisk(t, t.TempDir()+"/clicks", &disk{})
		defer l.Close()
		ids := add(t, l, 2)
		path := l.active.path
		if err := errors.Join(os.Rename(path, path+".away"), os.Symlink(path, path)); err != nil {
			t.Fatal(err)
		}
		if b, err := l.Next(10); !errors.Is(err, syscall.ELOOP) || !strings.Contains(err.Error(), path) {
			t.Errorf("read %v, %v", b, err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		same(t, drain(t, l), ids)
		if l.Lost() != 0 || told.String() != "" {
			t.Errorf("%d bytes lost, and told:\n%s", l.Lost(), told)
		}
	})
}

// A folder that cannot be made is an error.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := newFolder(file); f != nil || err == nil {
		t.Errorf("%v, %v", f, err)
	}
}
