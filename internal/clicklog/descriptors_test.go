package clicklog

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// starve appends while other parts of the process take every file that can be open.
func starve(l *Log) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	var taken []*os.File
	exhaust := func() error {
		for {
			f, err := os.Open(os.DevNull)
			if errors.Is(err, syscall.EMFILE) {
				return nil
			}
			if err != nil {
				return err
			}
			taken = append(taken, f)
		}
	}
	click := func(size int) error {
		e := sample()
		e.ReferrerHost = strings.Repeat("x", size)
		if err := errors.Join(exhaust(), l.Append(e)); err != nil {
			return err
		}
		_, err := fmt.Println(e.ID)
		return err
	}
	// A segment in which nothing is left to load ends when it is old. In the first round
	// another one is at hand, later there may be none.
	for range 3 {
		if err := click(10); err != nil {
			return err
		}
		if n := len(taken); n > 0 { // one for the loader
			taken[n-1].Close()
			taken = taken[:n-1]
		}
		b, err := l.Next(1000)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.active.born = time.Now().Add(-5 * time.Second)
		l.mu.Unlock()
		if err := errors.Join(exhaust(), l.Done(b)); err != nil {
			return err
		}
		for _, e := range b.Events {
			fmt.Println(e.ID)
		}
	}
	// Segments become full.
	for range 5 * (4 << 20) / 60_000 {
		if err := click(60_000); err != nil {
			return err
		}
	}
	return nil // and ends without Close
}

// With no file descriptor left, clicks are written, and none is lost.
func TestNoDescriptors(t *testing.T) {
	dir := t.TempDir()
	cmd, lines := child(t, "starve", dir)
	ids := acknowledged(t, lines, 1<<30)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	// A click is reported when it is acknowledged, and again when it is loaded.
	seen := map[int64]int{}
	for _, id := range append(drain(t, l), ids...) {
		seen[id]++
	}
	for _, id := range ids {
		if seen[id] < 2 {
			t.Errorf("acknowledged click %d is lost", id)
		}
	}
	if len(seen) < 5*(4<<20)/60_000 {
		t.Errorf("%d clicks", len(seen))
	}
}
