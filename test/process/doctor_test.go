package process_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnslookup/dnstest"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

var findingLine = regexp.MustCompile(`(?m)^([a-z][a-z ]{11})  (ok|warning|FAILED) `)

// sum counts what doctor found, as its last line does; one check may be left out.
func sum(out, leftOut string) string {
	counts := map[string]int{}
	for _, line := range findingLine.FindAllStringSubmatch(out, -1) {
		if strings.TrimSpace(line[1]) != leftOut {
			counts[line[2]]++
		}
	}
	warnings := "warnings"
	if counts["warning"] == 1 {
		warnings = "warning"
	}
	return fmt.Sprintf("%d ok, %d %s, %d failed\n", counts["ok"], counts["warning"], warnings, counts["FAILED"])
}

// examined runs doctor, requires lines of it, and returns how many checks ended in which way. The disk is
// left out of these, as its free space is up to the machine that runs the tests: TestDoctorOfDisks has its own.
func examined(t *testing.T, cmd *exec.Cmd, want int, lines ...string) (found string) {
	t.Helper()
	out, stderr, code := finish(t, cmd)
	if code != want {
		t.Errorf("exit code %d, want %d: %s", code, want, stderr)
	}
	if code == 0 && (stderr != "" || !strings.HasSuffix(out, "\n"+sum(out, ""))) || code != 0 && stderr != "waymark: "+sum(out, "") {
		t.Errorf("doctor does not end with %q:\n%s%s", sum(out, ""), out, stderr)
	}
	for _, line := range lines {
		if !strings.Contains(out, line) {
			t.Errorf("doctor does not say %q:\n%s", line, out)
		}
	}
	return sum(out, "disk")
}

func doctor(dir, database string, more ...string) *exec.Cmd {
	return exec.Command(binary, append([]string{"doctor", "--data-dir", dir, "--database", database}, more...)...)
}

func migrated(t *testing.T, dir, database string) *store.DB {
	t.Helper()
	if _, stderr, code := execute(t, "migrate", "--data-dir", dir, "--database", database); code != 0 {
		t.Fatal(stderr)
	}
	return open(t, dir, database)
}

// Without an executor its check fails, and all others are made. Work that is late is a warning, from a
// minute on; so are clicks that stay in the click log, and certificates that are late.
func TestDoctorOfWork(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		db := migrated(t, dir, database)
		set := func(query string, args ...any) {
			t.Helper()
			if _, err := db.Exec(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		ago := func(d time.Duration) clock.Instant { return db.Now().Add(-d) }
		click := func(at clock.Instant) { // in the log of a process of its own
			t.Helper()
			log, err := clicklog.Open(filepath.Join(dir, "clicks"), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { log.Close() })
			if err := log.Append(&clicklog.Event{At: at, Type: "click", Link: clicklog.Link{ID: "l", AppID: "a"}}); err != nil {
				t.Fatal(err)
			}
		}
		set(`INSERT INTO job (id, kind, payload, lease_no, attempts, run_after, created_at) VALUES ('j', 'x', '', 0, 0, ?, ?)`,
			ago(20*time.Second), ago(20*time.Second))
		set(`INSERT INTO webhook_delivery (id, webhook_id, app_id, event_id, event_type, state, attempts, due_at, lease_no,
			webhook_revision, revision, resource_id, resource_revision, occurred_at, created_at, updated_at)
			VALUES ('d', 'w', 'a', 'e', 'link.created', 'pending', 0, ?, 0, 'r', 'r', 'x', 'r', 0, 0, 0)`, ago(20*time.Second))
		set(`INSERT INTO certificate_file (key, value, modified_at, subject, not_after, renew_at) VALUES (?, ?, 0, 'late.example', ?, ?)`,
			[]byte("k"), []byte("v"), ago(-100*24*time.Hour), ago(-time.Hour))
		click(ago(time.Second))
		// The PostgreSQL of tests is set up to be fast, which doctor finds.
		sums := []string{"11 ok, 0 warnings, 1 failed\n", "7 ok, 4 warnings, 1 failed\n"}
		if database != "sqlite" {
			sums = []string{"10 ok, 1 warning, 3 failed\n", "6 ok, 5 warnings, 3 failed\n"}
		}
		found := examined(t, doctor(dir, database), 1,
			"certificates  ok       1 valid, the first expires in 100 days\n",
			"click log     ok       all in the event store that are older than a minute\n",
			"jobs          ok       1 waiting\n", "webhooks      ok       1 deliveries waiting\n",
			"executor      FAILED   no executor did a test job within 3s: is waymark serve running?\n"+
				"                       start a process with the role executor, ")
		if found != sums[0] {
			t.Errorf("doctor found %q, want %q", found, sums[0])
		}
		set("UPDATE job SET run_after = ?", ago(61*time.Second))
		set("UPDATE webhook_delivery SET due_at = ?", ago(61*time.Second))
		set("UPDATE certificate_file SET renew_at = ?", ago(0))
		click(ago(61 * time.Second))
		set("INSERT INTO event_loaded (log, file, position, updated_at) VALUES ('another', 7, 1, 0)")
		found = examined(t, doctor(dir, database), 1,
			"certificates  warning  1 valid, the first expires in 100 days; 1 late to be renewed, 0 expired, 0 hostnames whose "+
				"last order failed: late.example\n                       look at the log line: certificate not issued",
			"jobs          warning  1 waiting, the oldest due for 1m", "webhooks      warning  1 deliveries waiting, the oldest due for 1m",
			"role executor runs, and at its log\n", "click log     warning  a click of ")
		if found != sums[1] {
			t.Errorf("doctor found %q, want %q", found, sums[1])
		}
		set("UPDATE certificate_file SET not_after = ?", ago(0))
		set("INSERT INTO certificate_failure (subject, failures, code, message, failed_at, retry_at) VALUES ('no.example', 1, 'c', 'm', 0, 0)")
		examined(t, doctor(dir, database), 1, "certificates  FAILED   0 valid; 0 late to be renewed, 1 expired, 1 hostnames whose "+
			"last order failed: late.example, no.example\n")
	})
}

// A database that is away or not of this program keeps no other check from being made.
func TestDoctorWithoutDatabase(t *testing.T) {
	t.Parallel()
	const want = "3 ok, 0 warnings, 1 failed\n" // no executor was asked
	if found := examined(t, doctor(filepath.Join(t.TempDir(), "data"), "postgres://127.0.0.1:1/waymark"), 1,
		"data folder   ok       writable: ", "database      FAILED   open database postgres://127.0.0.1:1/waymark: ",
		"what needs the database was not checked\n", "asset store   ok       ", "dns           ok       "); found != want {
		t.Errorf("doctor found %q, want %q", found, want)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "waymark.db"), "")
	examined(t, doctor(dir, "sqlite"), 1, "database      FAILED   the database is empty: run waymark migrate\n")
}

// A clock that jumped is told, ahead and behind.
func TestDoctorOfTheClock(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		db := migrated(t, dir, database)
		for _, test := range []struct {
			swept time.Duration // from now
			want  string
		}{
			{-23 * time.Hour, "clock         ok       "},
			{-25 * time.Hour, "clock         FAILED   nothing is swept: the last sweep was at "},
			{time.Hour, "clock         FAILED   this clock is "},
		} {
			if err := store.SetInstallationValue(t.Context(), db, "swept_at", db.Now().Add(test.swept).String()); err != nil {
				t.Fatal(err)
			}
			examined(t, doctor(dir, database), 1, test.want)
		}
		if err := store.SetInstallationValue(t.Context(), db, "swept_at", ""); err != nil {
			t.Fatal(err)
		}
		for query, path := range map[string]string{
			"INSERT INTO route_change (hostname, path, changed_at, seq) VALUES ('h', '', ?, 1)": "DELETE FROM route_change",
			"INSERT INTO event_loaded (log, file, position, updated_at) VALUES ('l', 1, 1, ?)":  "DELETE FROM event_loaded",
		} {
			if _, err := db.Exec(t.Context(), query, db.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			examined(t, doctor(dir, database), 1, "clock         FAILED   this clock is ")
			if _, err := db.Exec(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A disk with little space is a warning, and one with nearly none fails; so are files, and the disk of the
// click log has a line of its own.
func TestDoctorOfDisks(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"size=3g":                "disk          ok       30",
		"size=1g":                "disk          warning  10",
		"size=200m":              "disk          FAILED   1",
		"size=3g,nr_inodes=5000": "disk          warning  only 4",
		"size=3g,nr_inodes=400":  "disk          FAILED   only 3",
	} {
		t.Run(options, func(t *testing.T) {
			dir := t.TempDir()
			mount := `mount -t tmpfs -o mode=0700,` + options + ` none "$1"; "$5" migrate --data-dir "$1" >/dev/null; mkdir "$1"/clicks
				mount -t tmpfs -o mode=0700,size=100m none "$1"/clicks`
			mount = strings.ReplaceAll(mount, `"$5"`, `"$2"`)
			examined(t, inNamespace(mount, dir, "doctor", "--data-dir", dir), 1, want, "click disk    FAILED   ")
		})
	}
}

// What PostgreSQL is set to is judged, on servers that are set up badly and well.
func TestDoctorOfPostgres(t *testing.T) {
	t.Parallel()
	installation := func(encoding string, settings ...string) string {
		t.Helper()
		server, err := storetest.StartPostgres(settings...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Stop() })
		administer(t, server.Address, "CREATE DATABASE installation TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING '"+encoding+"'")
		u, err := url.Parse(server.Address)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/installation"
		return u.String()
	}
	dir := t.TempDir()
	good := installation("UTF8", "fsync=on", "full_page_writes=on", "synchronous_commit=on")
	migrated(t, dir, good)
	found := examined(t, doctor(dir, good), 1, "settings      ok       PostgreSQL ", "clock         ok       agrees")
	if want := "11 ok, 0 warnings, 1 failed\n"; found != want {
		t.Errorf("doctor found %q, want %q", found, want)
	}
	bad := installation("LATIN1", "max_connections=32", "default_transaction_isolation='repeatable read'")
	migrated(t, dir, bad)
	examined(t, doctor(dir, bad), 1, "settings      FAILED   fsync is off", "settings      FAILED   full_page_writes is off",
		"settings      FAILED   the encoding of the database is LATIN1", "settings      FAILED   the server lets in 29 connections, and a process of Waymark has up to 31",
		"settings      warning  synchronous_commit is off", "settings      warning  default_transaction_isolation is repeatable read")
}

// A doctor notices a damaged page of the database, which nothing else may read for long.
func TestDoctorOfADamagedDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := migrated(t, dir, "sqlite")
	place, err := store.One(t.Context(), db, store.Value[int64], `SELECT (rootpage - 1) * page_size
		FROM sqlite_schema, pragma_page_size WHERE name = ?`, "link_history")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "waymark.db"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(strings.Repeat("damage", 100)), place)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	examined(t, doctor(dir, "sqlite"), 1, "database      FAILED   the database is damaged (",
		"put the database of a backup in its place\n", "jobs          ok       ")
}

// A doctor asks the DNS where the hostnames of owners are to lead.
func TestDoctorAsksDNS(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), dnstest.Start(t, "example.com")
	server.Set(t, "example.com", "connect A 192.0.2.80")
	migrated(t, dir, "sqlite")
	for cname, want := range map[string]string{
		"connect.example.com": "dns           ok       connect.example.com leads to [192.0.2.80], ",
		"none.example.com":    "dns           FAILED   --connect-cname: The name none.example.com does not exist in the DNS.\n",
	} {
		examined(t, doctor(dir, "sqlite", "--dns-resolver", server.Address, "--connect-cname", cname), 1, want)
	}
}
