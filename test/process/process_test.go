// Package process_test runs the program as its users do: as processes, on
// both engines, with the signals, crashes, full disks and lost databases that
// they meet. The program is built once with the race detector.
//
// The build tag soak (make soak) repeats what depends on chance many times and adds what takes
// minutes.
package process_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

var (
	binary string
)

// patience bounds every wait: generous, because it asserts no performance.
const patience = 45 * time.Second

// atOnce is how many tests run at once unless -parallel says it: most of their
// time they wait.
func atOnce() string {
	if soak {
		return "3"
	}
	return "5"
}

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce()); err != nil {
			panic(err)
		}
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "waymark-process-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "waymark")
	// With the flags of make unit, what the tests are built of is not compiled anew.
	flags := strings.Fields(cmp.Or(os.Getenv("WATCHED"), "-race"))
	args := slices.Concat([]string{"build"}, flags, []string{"-o", binary, "github.com/waymarkhq/waymark/cmd/waymark"})
	build := exec.Command("go", args...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build waymark: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// each runs f on both engines with what --database is there; the SQLite file
// is in the data folder.
func each(t *testing.T, f func(t *testing.T, database string)) {
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			f(t, addressOf(t, engine))
		})
	}
}

// open opens the database of an installation beside its processes.
func open(t *testing.T, dir, database string) *store.DB {
	t.Helper()
	if database == "sqlite" {
		database = "sqlite:" + filepath.Join(dir, "waymark.db")
	}
	db, err := store.Open(t.Context(), database, &clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// child is a process of ours.
type child struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr apitest.Journal
	exited         chan struct{} // closed once it is reaped
}

// environment is that of this process without settings of Waymark and without the
// tests' own for the garbage collector, with which a process holds several times the
// memory. The race detector would sleep a second at each end.
func environment(settings ...string) []string {
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WAYMARK_") && !strings.HasPrefix(v, "GOGC=") {
			env = append(env, v)
		}
	}
	return append(env, settings...)
}

// launch starts a command; it is ended and reaped when the test ends, and a
// race that it found fails the test.
func launch(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{t: t, cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.stdout, &c.stderr
	if cmd.Env == nil {
		cmd.Env = environment()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(c.exited)
	}()
	t.Cleanup(func() {
		c.kill()
		log := c.stderr.String()
		if strings.Contains(log, "DATA RACE") || strings.Contains(log, "\npanic:") ||
			strings.Contains(log, "msg=panic") {
			t.Errorf("a race or a panic in process %d", cmd.Process.Pid)
		}
		if t.Failed() {
			t.Logf("the last lines of process %d %v:\n%s", cmd.Process.Pid, cmd.Args[1:], log[max(0, len(log)-6000):])
		}
	})
	return c
}

func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Errorf("signal %v: %v", s, err)
	}
}

// kill ends it as a crash would and waits until it is gone.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.exited
}

// wait returns the exit code.
func (c *child) wait() int {
	c.t.Helper()
	select {
	case <-c.exited:
	case <-time.After(patience):
		c.kill()
		c.t.Fatalf("process %v did not end within %s", c.cmd.Args[1:], patience)
	}
	return c.cmd.ProcessState.ExitCode()
}

// terminate asks it to end and requires an orderly end.
func (c *child) terminate() {
	c.t.Helper()
	started := time.Now()
	c.signal(syscall.SIGTERM)
	if code := c.wait(); code != 0 {
		c.t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
	c.t.Logf("ended %s after SIGTERM", time.Since(started).Round(time.Millisecond))
}

// execute runs a command of the program to its end.
func execute(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return finish(t, exec.Command(binary, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	c := launch(t, cmd)
	code = c.wait()
	return c.stdout.String(), c.stderr.String(), code
}

// server is a running serve.
type server struct {
	*child
	dir, database        string
	api, public, metrics string // addresses of the listeners, "" for none
}

var listening = regexp.MustCompile(`msg=listening what=(\w+) address=(\S+)`)

// terminate requires an orderly end that leaves everything in the SQLite file, and nothing
// in its log.
func (s *server) terminate() {
	s.t.Helper()
	s.child.terminate()
	log := filepath.Join(s.dir, "waymark.db-wal")
	if info, err := os.Stat(log); err == nil && info.Size() > 0 {
		s.t.Errorf("%s has %d bytes after an orderly end", log, info.Size())
	}
}

// serve starts a server in development mode on ports of its own choice and
// waits until it listens.
func serve(t *testing.T, dir, database string, more ...string) *server {
	t.Helper()
	return started(t, exec.Command(binary, serveArgs(dir, database, more...)...), dir, database)
}

func serveArgs(dir, database string, more ...string) []string {
	return append([]string{"serve", "--data-dir", dir, "--database", database, "--environment", "staging",
		"--platform-zone", "localhost",
		"--api-addr", "127.0.0.1:0", "--public-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--limit-scale",
		"1000"}, more...)
}

func started(t *testing.T, cmd *exec.Cmd, dir, database string) *server {
	t.Helper()
	s := &server{child: launch(t, cmd), dir: dir, database: database}
	s.eventually("it listens", func() error {
		select {
		case <-s.exited:
			t.Fatalf("serve ended: %s", s.stderr.String())
		default:
		}
		for _, m := range listening.FindAllStringSubmatch(s.stderr.String(), -1) {
			switch m[1] {
			case "api":
				s.api = m[2]
			case "public":
				s.public = m[2]
			case "metrics": // the last one
				s.metrics = m[2]
			}
		}
		if s.metrics == "" {
			return errors.New("no line in the log")
		}
		return nil
	})
	return s
}

// eventually waits until f succeeds.
func (s *server) eventually(what string, f func() error) {
	s.t.Helper()
	eventually(s.t, what, f)
}

func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s: %v", patience, what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// token issues a session beside the server.
func (s *server) token(email string) string {
	s.t.Helper()
	out, stderr, code := execute(s.t, "session", "issue", "--data-dir", s.dir, "--database", s.database, "--email",
		email)
	token := strings.TrimSuffix(out, "\n")
	if code != 0 || stderr != "" || len(strings.Split(token, ".")) != 3 || strings.ContainsAny(token, " \n") {
		s.t.Fatalf("session issue beside a running server: exit code %d, output %q, errors %q", code, out, stderr)
	}
	return token
}

// addressOf returns what --database is for an empty installation.
func addressOf(t *testing.T, engine string) string {
	if engine == "sqlite" {
		return engine
	}
	return storetest.Address(t, engine)
}
