package segments

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// The test binary runs itself as a process that appends and compacts until it is
// killed.
const (
	envAddress = "WAYMARK_SEGMENTS_TEST_ADDRESS"
	envDir     = "WAYMARK_SEGMENTS_TEST_DIR"
	envNow     = "WAYMARK_SEGMENTS_TEST_NOW"
	// envDie is the number of the moment at which the process kills itself.
	envDie = "WAYMARK_SEGMENTS_TEST_DIE"
)

func TestMain(m *testing.M) {
	if os.Getenv(envAddress) == "" {
		os.Exit(m.Run())
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mortal is a store that ends its process with SIGKILL at a moment: before, in the
// middle of, or after a change.
type mortal struct {
	blob.Store
	moments int
}

func (m *mortal) moment() {
	if m.moments--; m.moments == 0 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (m *mortal) Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error {
	m.moment()
	err := m.Store.Put(ctx, name, contentType, &halved{r, m, size / 2}, size)
	m.moment()
	return err
}

func (m *mortal) Delete(ctx context.Context, name string) error {
	m.moment()
	err := m.Store.Delete(ctx, name)
	m.moment()
	return err
}

// halved has a moment when half of it was read.
type halved struct {
	io.Reader
	m    *mortal
	left int64
}

func (h *halved) Read(p []byte) (int, error) {
	if h.left > 0 {
		p = p[:min(int64(len(p)), h.left)]
	}
	n, err := h.Reader.Read(p)
	if h.left > 0 && h.left <= int64(n) {
		h.m.moment()
	}
	h.left -= int64(n)
	return n, err
}

// perBatch is how many events a batch of the process has.
const perBatch = 10

// numbered returns the batch with a number: its events have ids of their own, lie in
// two months, and come from files of some batches each.
func numbered(n int) *clicklog.Batch {
	const perFile = 7
	b := &clicklog.Batch{}
	run := clicklog.Run{Log: "log", File: int64(1 + n/perFile)}
	for i := range perBatch {
		id := n*perBatch + i
		e := clicklog.Event{
			ID: int64(1 + id), At: storetest.Start.Add(-time.Duration(id%3) * 20 * 24 * time.Hour),
			Type: clicklog.Click, Visitor: int64(id), Device: "ios", Source: "qr", Country: "PT", Destination: "web",
			Link: clicklog.Link{ID: fmt.Sprint(id % 50), AppID: app, Hostname: "go.example.com", Slug: "s",
				Group: "main"},
		}
		b.Events = append(b.Events, e)
		run.Ends = append(run.Ends, int64(100*((n%perFile)*perBatch+i+1)))
	}
	b.Runs = []clicklog.Run{run}
	return b
}

// work appends and compacts, and prints the number of each batch that is appended. It
// begins with the batches before the last one, as a loader does after a crash.
func work() error {
	ctx := context.Background()
	now, err := strconv.ParseInt(os.Getenv(envNow), 10, 64)
	if err != nil {
		return err
	}
	moments, err := strconv.Atoi(os.Getenv(envDie))
	if err != nil {
		return err
	}
	c := &clock.Clock{}
	c.Set(clock.Instant(now))
	db, err := store.Open(ctx, os.Getenv(envAddress), c)
	if err != nil {
		return err
	}
	files, err := blob.Open("file", os.Getenv(envDir), blob.Segments(0))
	if err != nil {
		return err
	}
	e := Open(Options{DB: db, Files: &mortal{files, moments}, Dir: os.TempDir(), Turns: turns.New(1),
		Log: slog.Default()})
	begin, err := store.One(ctx, db, store.Value[int], "SELECT coalesce(sum(events), 0) FROM event_segment")
	if err != nil {
		return err
	}
	for n := max(0, begin/perBatch-20); ; n++ {
		if err := e.Append(ctx, numbered(n)); err != nil {
			return err
		}
		fmt.Println(n)
		if n%4 == 3 {
			young, err := entries(ctx, db, "WHERE data IS NOT NULL")
			if err != nil {
				return err
			}
			if len(young) > 0 {
				_, err = e.rewrite(ctx, young, false, everything)
			}
			if err != nil {
				return err
			}
		}
		if _, err := e.Step(ctx); err != nil {
			return err
		}
		c.Move(grace / 8)
	}
}

// crash runs the process until it dies: at a moment of its own, or after some batches
// when moment is 0. It returns the number of the last batch that was appended for sure.
func crash(t *testing.T, address, dir string, now clock.Instant, moment, batches int) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envAddress+"="+address, envDir+"="+dir, fmt.Sprint(envNow, "=", int64(now)),
		fmt.Sprint(envDie, "=", moment))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	last = -1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			break // part of a line
		}
		last = n
		if batches--; moment == 0 && batches == 0 {
			cmd.Process.Kill()
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended by itself: %v", err)
	}
	return last
}

// rounds kills a process at each of its first moments and at random ones, and checks
// after each time that every event is there once.
func rounds(t *testing.T, engine string, n int) {
	dir, c := t.TempDir(), &clock.Clock{}
	c.Set(storetest.Start)
	address := storetest.Address(t, engine)
	e := open(t, storetest.Open(t, address, c), dir)
	last := -1
	for round := range n {
		moment, batches := 1+round, 0
		if moment > 25 {
			moment, batches = 0, 1+rand.IntN(60)
		}
		last = max(last, crash(t, address, dir, c.Now(), moment, batches))
		got := ids(t, e)
		if len(got) < (last+1)*perBatch || len(got)%perBatch != 0 {
			t.Fatalf("%d events in round %d, batch %d was appended", len(got), round, last)
		}
		want := make([]int64, len(got))
		for i := range want {
			want[i] = int64(1 + i)
		}
		once(t, e, want)
		c.Move(time.Hour)
	}
	c.Move(writeWithin)
	rest(t, e)
	c.Move(grace)
	rest(t, e)
	// What was half written goes when the store is opened an hour later.
	hourAgo := time.Now().Add(-2 * time.Hour)
	for _, name := range files(t, dir) {
		if err := os.Chtimes(filepath.Join(dir, "events", name), hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
	}
	tidy(t, open(t, e.DB, dir), dir)
}

// kill -9 at every step of compaction loses no event, doubles none and leaves no file.
func TestKill(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { rounds(t, engine, 12) })
	}
}
