package process_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/store/storetest"
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
		mustEvents(t, dir, address, fmt.Sprintf("events   %d events of 1 app\n", count), "status")
		serve(t, dir, address).terminate()
		mustEvents(t, dir, address, fmt.Sprintf("deleted %d events", count), "clear", "--engine", "database")
		mustEvents(t, dir, address, fmt.Sprintf("events   %d events of 1 app\n", count), "status")
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
		args := exportOf(o.app, file)
		mustEvents(t, dir, address, "wrote 5 events of app "+o.app, args...)
		if _, stderr, code := events(t, dir, address, args...); code != 1 || !strings.Contains(stderr, "is there already") {
			t.Errorf("over a file: exit code %d, %q", code, stderr)
		}
		for words, args := range map[string][]string{
			"found no events of the installation of app " + o.app: {"erase", "--install", "i", "--app", o.app},
			"found no events of link nope; nothing was deleted":   {"erase", "--link", "nope"},
			"--install and --app need each other":                 {"erase", "--install", "i"},
			"there is no app nope":                                {"erase", "--install", "i", "--app", "nope"},
			"name what is to be erased":                           {"erase", "--link", ""},
			"--app is empty":                                      exportOf("", file+"2"),
			"waymark: there is no app nope":                       exportOf("nope", file+"2"),
			"the folder " + file + "2 does not exist":             exportOf(o.app, file+"2/events.parquet"),
		} {
			if _, stderr, code := events(t, dir, address, args...); code != 1 || !strings.Contains(stderr, words) {
				t.Errorf("%v: exit code %d, %q", args, code, stderr)
			}
		}
		out, stderr, code := events(t, dir, address, "erase", "--link", made.ID)
		if code != 0 || !strings.Contains(out, "erased 5 events of link ") || !strings.Contains(out, "a running waymark serve") ||
			strings.Contains(out, "files") {
			t.Errorf("exit code %d, %q, %q", code, out, stderr)
		}
		mustEvents(t, dir, address, "events   0 events of 0 apps", "status")
		s.terminate()
	})
}

func exportOf(app, file string) []string {
	return []string{"export", "--app", app, "--start", "2020-01-01", "--end", "2100-01-01T00:00:00Z", "--parquet", file}
}

// An installation whose files of events are in one segment store refuses another one,
// and the command that a copy prints deletes the files there.
func TestSegmentStoreOfEvents(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { testSegmentStore(t, addressOf(t, engine)) })
	}
}

func testSegmentStore(t *testing.T, address string) {
	dir, s3 := t.TempDir(), newS3(t)
	s := serve(t, dir, address, "--segment-store", s3.address())
	db := open(t, dir, address)
	traffic := enginetest.NewTraffic(1, "app", clock.At(db.Now().Time().AddDate(0, 0, -30)))
	s.terminate()
	old := database.Open(db)
	if err := old.Append(t.Context(), enginetest.Batch(traffic.Events(500)...)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), "UPDATE installation SET value = 'database' WHERE name = 'events_engine'"); err != nil {
		t.Fatal(err)
	}
	refused := func(args ...string) {
		t.Helper()
		if out, stderr, code := execute(t, append(args, "--data-dir", dir, "--database", address)...); code != 1 ||
			!strings.Contains(stderr+out, "in the segment store s3://images/waymark?endpoint="+s3.URL+", not in file") {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, stderr)
		}
	}
	refused("events", "copy", "--to", "segments")
	mustEvents(t, dir, address, "500 events are in the engine segments", "copy", "--to", "segments", "--segment-store",
		s3.address())
	// As if they had been there since yesterday.
	if _, err := db.Exec(t.Context(), "UPDATE event_segment SET created_at = 1"); err != nil {
		t.Fatal(err)
	}
	s = serve(t, dir, address, "--segment-store", s3.address())
	eventually(t, "they are sealed", func() error {
		if n := s3.objects(t); n == 0 {
			return fmt.Errorf("%d objects", n)
		}
		return nil
	})
	out, stderr, code := execute(t, "doctor", "--data-dir", dir, "--database", address)
	if code != 1 || !strings.Contains(out, "not in file: name the former with --segment-store") ||
		!strings.Contains(out, "\nexecutor      ok       ") {
		t.Errorf("doctor: exit code %d, %q, %q", code, out, stderr)
	}
	s.terminate()
	refused("serve", "--dev", "--metrics-addr", "127.0.0.1:0")
	for _, args := range [][]string{{"status"}, {"copy", "--to", "database"}, {"erase", "--link", "x"}} {
		refused(append([]string{"events"}, args...)...)
	}
	mustEvents(t, dir, address, "deleted 500 events of the engine database", "clear", "--engine", "database")
	out, stderr, code = events(t, dir, address, "copy", "--to", "database", "--segment-store", s3.address())
	if code != 0 {
		t.Fatal(out, stderr)
	}
	refused("events", "clear", "--engine", "segments")
	line := strings.TrimSpace(out[strings.LastIndex(out, "waymark events clear"):])
	line = strings.Replace(line, "waymark", binary, 1)
	line = strings.Replace(line, "'postgres://…'", "'"+address+"'", 1)
	c := launch(t, exec.Command("sh", "-c", "exec "+line))
	eventually(t, "the files are given up", func() error {
		n, err := db.Exec(t.Context(), "UPDATE event_garbage SET due_at = 1")
		if err == nil && n == 0 {
			err = fmt.Errorf("no file is")
		}
		return err
	})
	eventually(t, "the files are deleted", func() error {
		if n := s3.objects(t); n != 0 {
			return fmt.Errorf("%d objects", n)
		}
		return nil
	})
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d, %q", code, c.stderr.String())
	}
	mustEvents(t, dir, address, "500 events are in the engine segments", "copy", "--to", "segments")
}

// An address of ClickHouse that is wrong at the first start is not recorded, and a copy
// prints no password.
func TestClickHouseOfEvents(t *testing.T) {
	each(t, func(t *testing.T, address string) {
		dir, server := t.TempDir(), clickhousetest.Address(t)
		stderr, _ := second(t, exec.Command(binary, serveArgs(dir, address, "--events",
			"clickhouse://user:secret@127.0.0.1:1/waymark")...))
		if !strings.Contains(stderr, "connection refused") || strings.Contains(stderr, "secret") {
			t.Errorf("a server that is not there: %q", stderr)
		}
		serve(t, dir, address, "--events", server).terminate()
		out, stderr, code := events(t, dir, address, "copy", "--from", server, "--to", "segments")
		if code != 0 || !strings.Contains(out, "\nwaymark events clear --engine 'clickhouse://…' --data-dir ") {
			t.Errorf("exit code %d, %q, %q", code, out, stderr)
		}
		if out, stderr, code := events(t, dir, address, "clear", "--engine", server); code != 0 ||
			out != "deleted 0 events of the engine clickhouse\n" || stderr != "" {
			t.Errorf("exit code %d, %q, %q", code, out, stderr)
		}
	})
}
