package process_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
)

// events runs a command on the events of an installation.
func events(t *testing.T, dir, address string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return finish(t, eventsCommand(dir, address, args...))
}

func eventsCommand(dir, address string, args ...string) *exec.Cmd {
	return exec.Command(binary, append([]string{"events", args[0], "--data-dir", dir, "--database", address},
		args[1:]...)...)
}

// mustEvents is events with the words of the answer that it must have.
func mustEvents(t *testing.T, dir, address, words string, args ...string) {
	t.Helper()
	if out, stderr, code := events(t, dir, address, args...); code != 0 || !strings.Contains(out, words) {
		t.Errorf("events %v: exit code %d, %q, %q; want %q", args, code, out, stderr, words)
	}
}

// A new installation keeps its engine of events, says which one it has, and refuses
// another one with what to do.
func TestEngineOfEvents(t *testing.T) {
	each(t, func(t *testing.T, address string) {
		dir := t.TempDir()
		s := serve(t, dir, address)
		if log := s.stderr.String(); !strings.Contains(log, `msg="events are kept" engine=segments`) {
			t.Errorf("the log does not tell the engine:\n%s", log)
		}
		mustEvents(t, dir, address, "engine   segments, 0 sealed", "status")
		if _, stderr, code := events(t, dir, address, "copy", "--to", "database"); address == "sqlite" &&
			(code != 1 || !strings.Contains(stderr, "in use by another waymark serve")) {
			t.Errorf("a copy beside a running server: exit code %d, %q", code, stderr)
		}
		s.terminate()
		if address != "sqlite" { // nobody could see the server, so the empty engine was copied
			mustEvents(t, dir, address, "0 events are in the engine segments", "copy", "--to", "segments")
		}
		stderr, _ := second(t, exec.Command(binary, serveArgs(dir, address, "--events", "database")...))
		if !strings.Contains(stderr, "in the engine segments, not in database") ||
			!strings.Contains(stderr, "waymark events copy") {
			t.Errorf("another engine is refused with %q", stderr)
		}
		serve(t, dir, address, "--events", "segments").terminate()
	})
}

// A copy that is killed again and again goes on each time, and every event arrives
// once. The engine of the installation changes at the end.
func TestKilledCopyOfEvents(t *testing.T) {
	each(t, func(t *testing.T, address string) {
		dir := t.TempDir()
		if _, stderr, code := execute(t, "migrate", "--data-dir", dir, "--database", address); code != 0 {
			t.Fatal(stderr)
		}
		const count = 60_000
		db := open(t, dir, address)
		traffic := enginetest.NewTraffic(1, "app", clock.At(db.Now().Time().AddDate(0, 0, -30)))
		old := database.Open(db)
		for range count / 10_000 {
			if err := old.Append(t.Context(), enginetest.Batch(traffic.Events(10_000)...)); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			c := launch(t, eventsCommand(dir, address, "copy", "--from", "database", "--to", "segments"))
			eventually(t, "it copies", func() error {
				if log := c.stderr.String(); !strings.Contains(log, "copied ") {
					return fmt.Errorf("output %q", log)
				}
				return nil
			})
			c.kill()
		}
		mustEvents(t, dir, address, "engine   database\n", "status")
		mustEvents(t, dir, address, fmt.Sprintf("%d events are in the engine segments", count), "copy", "--to", "segments")
		mustEvents(t, dir, address, fmt.Sprintf("events   %d of 1 apps", count), "status")
		serve(t, dir, address).terminate()
		mustEvents(t, dir, address, fmt.Sprintf("deleted %d events", count), "clear", "--engine", "database")
		mustEvents(t, dir, address, fmt.Sprintf("events   %d of 1 apps", count), "status")
	})
}

// Events are erased by link and by install id, and exported into a file that is new.
func TestErasedAndExportedEvents(t *testing.T) {
	each(t, func(t *testing.T, address string) {
		dir := t.TempDir()
		s := serve(t, dir, address)
		o := newOwner(t, s.client(s.token("owner@example.com")))
		made, v := o.create(t, "one"), s.visitor(t)
		v.leadsTo(t, "one", "one-0")
		for range 5 {
			if a, _, err := v.ask("GET", "one"); err != nil || a.status != 302 {
				t.Fatal(a, err)
			}
		}
		s.loaded()
		file := filepath.Join(t.TempDir(), "events.parquet")
		args := []string{"export", "--app", o.app, "--start", "2020-01-01", "--end", "2100-01-01T00:00:00Z",
			"--parquet", file}
		mustEvents(t, dir, address, "wrote 5 events of app "+o.app, args...)
		if _, stderr, code := events(t, dir, address, args...); code != 1 || !strings.Contains(stderr, "is there already") {
			t.Errorf("over a file: exit code %d, %q", code, stderr)
		}
		mustEvents(t, dir, address, "erased 0 events of the installation", "erase", "--install", "i", "--app", o.app)
		if _, stderr, code := events(t, dir, address, "erase", "--install", "i"); code != 1 ||
			!strings.Contains(stderr, "--install and --app need each other") {
			t.Errorf("without an app: exit code %d, %q", code, stderr)
		}
		mustEvents(t, dir, address, "erased 5 events of link ", "erase", "--link", made.ID)
		mustEvents(t, dir, address, "events   0 of 0 apps", "status")
		s.terminate()
	})
}
