package clicklog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The test binary runs itself as a process that appends.
const (
	envRole = "WAYMARK_CLICKLOG_TEST_ROLE"
	envDir  = "WAYMARK_CLICKLOG_TEST_DIR"
)

func TestMain(m *testing.M) {
	roles := map[string]func(*Log) error{"append": appendForever, "fill": fillDisk, "starve": starve}
	role := roles[os.Getenv(envRole)]
	if role == nil {
		os.Exit(m.Run())
	}
	l, err := Open(os.Getenv(envDir), slog.Default())
	if err == nil {
		err = role(l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

// acknowledged reads up to limit IDs that a child has reported.
func acknowledged(t *testing.T, lines *bufio.Scanner, limit int) (ids []int64) {
	t.Helper()
	for len(ids) < limit && lines.Scan() {
		id, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return ids // the last line of a killed process may be part of one
		}
		ids = append(ids, id)
	}
	return ids
}

func appendForever(l *Log) error {
	for {
		e := sample()
		if err := l.Append(e); err != nil {
			return err
		}
		if _, err := fmt.Println(e.ID); err != nil {
			return err
		}
	}
}

// kill -9 loses no event whose Append has returned.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		cmd, lines := child(t, "append", dir)
		ids := acknowledged(t, lines, 1000*(round+1)+round)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, acknowledged(t, lines, 1<<30)...)
		cmd.Wait()
		l := open(t, dir)
		found := map[int64]int{}
		for _, id := range drain(t, l) {
			found[id]++
		}
		for _, id := range ids {
			if found[id] != 1 {
				t.Fatalf("acknowledged event %d was read %d times", id, found[id])
			}
		}
		// One more may have been written than was reported.
		if len(found) > len(ids)+1 {
			t.Fatalf("read %d events, %d acknowledged", len(found), len(ids))
		}
		abandon(t, l)
		empty(t, dir)
	}
}

// fillDisk appends against a limit on the file's size, which cuts a write
// short as a full disk does, lifts it, and appends again.
func fillDisk(l *Log) error {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = 5_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	failed := 0
	for failed < 3 {
		e := sample()
		err := l.Append(e)
		switch {
		case err == nil:
			fmt.Println(e.ID)
		case errors.Is(err, syscall.EFBIG):
			failed++
		default:
			return err
		}
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for range 10 {
		e := sample()
		if err := l.Append(e); err != nil {
			return err
		}
		fmt.Println(e.ID)
	}
	return nil // and ends without Close
}

// An event that could not be written whole leaves no trace.
func TestShortWrite(t *testing.T) {
	dir := t.TempDir()
	cmd, lines := child(t, "fill", dir)
	ids := acknowledged(t, lines, 1<<30)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(ids) < 20 {
		t.Fatalf("%d events acknowledged; want some before and some after the limit", len(ids))
	}
	size := int64(0)
	for _, path := range files(t, dir) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	l := open(t, dir)
	same(t, drain(t, l), ids)
	// The file was whole: nothing had to be cut off.
	var whole []byte
	for _, id := range ids {
		e := sample()
		e.ID = id
		var err error
		if whole, err = appendRecord(whole, e); err != nil {
			t.Fatal(err)
		}
	}
	if int64(len(whole)) != size {
		t.Fatalf("files had %d bytes, want %d", size, len(whole))
	}
}

// Where even the cut fails, the next event goes to a new file.
func TestUnrepairableFile(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := open(t, dir)
	ids := add(t, l, 1)
	l.mu.Lock()
	l.unsynced = append(l.unsynced, l.active.file)
	l.active.file = full
	l.mu.Unlock()
	if err := l.Append(sample()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Append to a full disk: %v", err)
	}
	ids = append(ids, add(t, l, 2)...)
	same(t, drain(t, l), ids)
}

// Where no next file can be had, either, the part of an event that was written stays, and
// the reader passes over it.
func TestUnrepairableLastFile(t *testing.T) {
	l := open(t, t.TempDir())
	ids := add(t, l, 2)
	full := nearlyFull(t)
	l.mu.Lock()
	file, before := l.active.file, l.active.end
	l.active.file, l.unsynced = full, make([]*os.File, 16)
	l.mu.Unlock()
	large := sample()
	large.ReferrerHost = strings.Repeat("x", 60_000)
	if err := l.Append(large); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("Append to a file that is nearly full: %v", err)
	}
	l.mu.Lock()
	written := l.active.end - before
	l.active.file = file
	l.mu.Unlock()
	if written <= 0 {
		t.Fatal("nothing was written")
	}
	if _, err := file.Write(l.buf[:written]); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, add(t, l, 2)...)
	same(t, drain(t, l), ids)
	if l.Lost() != written {
		t.Errorf("%d bytes lost, want %d", l.Lost(), written)
	}
}

// nearlyFull returns a file that takes a part of a large event, and cannot be cut.
func nearlyFull(t *testing.T) *os.File {
	t.Helper()
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(pipe[0]), "read"), os.NewFile(uintptr(pipe[1]), "write")
	t.Cleanup(func() { r.Close(); w.Close() })
	// Only from now on, so that a write which finds no room fails and does not wait.
	if err := syscall.SetNonblock(pipe[1], true); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 4<<20)); !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("a pipe that takes everything: %v", err)
	}
	if _, err := io.ReadFull(r, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	return w
}
