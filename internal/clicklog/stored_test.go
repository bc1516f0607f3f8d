package clicklog

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Stored leaves out the events that are not to be stored, and their places with them,
// also those that an ended process wrote.
func TestStored(t *testing.T) {
	dir := t.TempDir()
	write := func(l *Log, unstored string) {
		t.Helper()
		for _, flag := range unstored {
			e := sample()
			e.Limited, e.Unstored = true, flag == 'u'
			if err := l.Append(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	ended := open(t, dir)
	write(ended, "sus")
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	write(l, "ssus")
	all, err := l.Next(100)
	if err != nil || len(all.Events) != 7 || all.Inherited != 3 || len(all.Runs) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	stored := all.Stored()
	if len(stored.Runs) != 2 || stored.Inherited != 2 {
		t.Fatalf("%d runs, %d inherited; want 2 of each", len(stored.Runs), stored.Inherited)
	}
	for i, from := range []int{0, 2, 3, 4, 6} {
		if stored.Events[i].ID != all.Events[from].ID {
			t.Errorf("event %d is not event %d of all", i, from)
		}
	}
	for i, want := range [][]int64{{all.Runs[0].Ends[0], all.Runs[0].Ends[2]},
		{all.Runs[1].Ends[0], all.Runs[1].Ends[1], all.Runs[1].Ends[3]}} {
		if got := stored.Runs[i]; !slices.Equal(got.Ends, want) ||
			got.Log != all.Runs[i].Log || got.File != all.Runs[i].File {
			t.Errorf("run %d: %+v, want ends %v", i, got, want)
		}
	}
	if err := l.Done(all); err != nil || l.Backlog() != 0 {
		t.Errorf("%v, backlog %d", err, l.Backlog())
	}
	write(l, "us")
	one, err := l.Next(100)
	if err != nil || len(one.Stored().Events) != 1 || len(one.Stored().Runs) != 1 || l.Done(one) != nil {
		t.Errorf("one to store: %+v, %v", one.Stored(), err)
	}
	write(l, "uu")
	if b, err := l.Next(100); err != nil || len(b.Stored().Events) != 0 || len(b.Stored().Runs) != 0 {
		t.Errorf("nothing to store: %+v, %v", b.Stored(), err)
	}
	write(l, "s")
	b, err := l.Next(100)
	if err != nil || l.Done(b) != nil {
		t.Fatal(err)
	}
	write(l, "ss")
	if b, err := l.Next(100); err != nil || b.Stored() != b {
		t.Errorf("nothing to leave out: %v", err)
	}
}

// A segment more must not bring the log beyond its limit by a byte.
func TestLimitToTheByte(t *testing.T) {
	l := open(t, t.TempDir())
	add(t, l, 3)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = l.backlog() + 4<<20
	if err := l.watch(); err != nil {
		t.Error(err)
	}
	l.limit--
	if err := l.watch(); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
}

// Nothing is taken by a log that is closed.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(sample()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
	empty(t, dir)
}

// A folder of an ended process goes with its last file, not with its first.
func TestFoldersStayWithTheirFiles(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir)
	add(t, before, 1)
	fillSegment(t, before)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	seen := map[int]bool{} // numbers of files
	for next := true; next; next = l.Inherited() {
		b, err := l.Next(10)
		if err == nil {
			err = l.Done(b)
		}
		left, globErr := filepath.Glob(filepath.Join(before.own.path, "*"+extension))
		if err := errors.Join(err, globErr); err != nil {
			t.Fatal(err)
		}
		seen[len(left)] = true
		if f, err := lockFolder(before.own.path); f != nil || err != nil {
			t.Errorf("with %d files the folder can be taken: %v", len(left), err)
		}
	}
	if len(seen) != 3 || !seen[0] {
		t.Errorf("there were %v files", seen)
	}
}

// A log takes events until its limit, says in time that it fills up, and takes them again
// when some were moved.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told strings.Builder
		l, err := Open(t.TempDir(), slog.New(slog.NewTextHandler(&told, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		l.limit = 6 * (4 << 20)
		alarms := func() int { return strings.Count(told.String(), "fills up") }
		fill := func(segments int) {
			t.Helper()
			for l.Backlog() < int64(segments)*(4<<20)-1000 {
				add(t, l, 1)
			}
		}
		fill(3)
		if alarms() != 0 {
			t.Errorf("told too early: %s", told.String())
		}
		add(t, l, 20)
		fill(4)
		add(t, l, 20)
		if alarms() != 1 {
			t.Errorf("told %d times in a minute, want once", alarms())
		}
		time.Sleep(time.Minute)
		var refused error
		for range 2 * (4 << 20) / 100 {
			if refused = l.Append(sample()); refused != nil {
				break
			}
		}
		if size := l.Backlog(); refused == nil || !errors.Is(refused, ErrFull) || size < l.limit-(4<<20) || size > l.limit {
			t.Errorf("%v with %d of %d bytes", refused, size, l.limit)
		}
		if alarms() != 2 {
			t.Errorf("told %d times, want twice", alarms())
		}
		drain(t, l)
		add(t, l, 20)
	})
}
