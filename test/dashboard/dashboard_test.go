// Package dashboard uses the dashboard as its owners do: in a real browser (Chromium), with the program
// beside it, on both databases.
//
// `go test -artifacts -outputdir <folder> ./test/dashboard` keeps the screenshots.
package dashboard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/test/chromium"
	"github.com/waymarkhq/waymark/test/program"
)

// patience bounds every wait: generous, because it asserts no performance.
const patience = 2 * time.Minute

var binary string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "waymark-dashboard-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = program.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// install gets the packages as package-lock.json has them.
var install = sync.OnceValue(func() error {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed; this test needs Node.js 20 or later: %w", name, err)
		}
	}
	if _, err := os.Stat("node_modules/axe-core/package.json"); err == nil {
		return nil
	}
	if out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").
		CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// server is waymark serve --dev, which can be stopped and started again at its address.
type server struct {
	t    *testing.T
	args []string
	link string // signs in once

	cmd    *exec.Cmd
	stderr *apitest.Journal
}

var (
	linkLine  = regexp.MustCompile(`http://\S+/dashboard/#/signin\?code=\S+`)
	listening = regexp.MustCompile(`msg=listening what=(api|public) address=(127\.0\.0\.1:\d+)`)
)

func serve(t *testing.T, engine string) *server {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &server{t: t, args: []string{"serve", "--dev", "--data-dir", dir, "--limit-scale", "1000", "--dns-resolver", "127.0.0.1:1",
		"--metrics-addr", "127.0.0.1:0"}}
	if engine == "postgres" {
		s.args = append(s.args, "--database", storetest.Empty(t, engine))
	}
	s.start("--api-addr", "127.0.0.1:0", "--public-addr", "127.0.0.1:0")
	for _, m := range listening.FindAllStringSubmatch(s.stderr.String(), -1) {
		s.args = append(s.args, "--"+m[1]+"-addr", m[2])
	}
	t.Cleanup(func() { s.stop() })
	return s
}

// start starts the program and waits for the lines that it prints when it is there.
func (s *server) start(args ...string) {
	s.t.Helper()
	s.stderr = &apitest.Journal{}
	s.cmd = exec.Command(binary, append(s.args, args...)...)
	s.cmd.Env = []string{"HOME=" + s.t.TempDir()}
	s.cmd.Stderr = s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if link := linkLine.FindString(lines.Text()); link != "" {
				found <- link
				break
			}
		}
		io.Copy(io.Discard, stdout)
	}()
	select {
	case s.link = <-found:
	case <-time.After(patience):
		s.t.Fatalf("the server prints no link:\n%s", s.stderr.String())
	}
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("serve ended: %v\n%s", err, s.stderr.String())
	}
}

// run has a script check the dashboard, and returns how many checks it made.
func (s *server) run(script string, args ...string) (checks int) {
	s.t.Helper()
	command := chromium.Script(s.t, script, append([]string{s.link}, args...)...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	answers, err := command.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var found struct{ Page, Check, Problem, Ask string }
		if err := json.Unmarshal(lines.Bytes(), &found, json.MatchCaseInsensitiveNames(true)); err != nil {
			s.t.Errorf("%s printed %q: %v", script, lines.Text(), err)
			continue
		}
		switch found.Ask {
		case "stop":
			s.stop()
		case "start":
			s.start()
		default:
			checks++
			if found.Problem != "" {
				s.t.Errorf("%s, %s: %s", found.Page, found.Check, found.Problem)
			}
			continue
		}
		fmt.Fprintln(answers, "done")
	}
	if err := command.Wait(); err != nil {
		s.t.Fatalf("%s: %v\n%s", script, err, &complaints)
	}
	return checks
}

// The way from the one-time link to a counted click, and in again with a passkey.
func TestWay(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			if checks := serve(t, engine).run("way.mjs"); checks != 10 {
				t.Errorf("%d checks", checks)
			}
		})
	}
}

// Every screen makes no error, asks no other host, fits, is accessible, and makes few calls, on
// phones and desktops, light and dark, and also fits from right to left.
func TestLooks(t *testing.T) {
	const screens = 30
	dir := t.ArtifactDir()
	if checks := serve(t, "sqlite").run("look.mjs", dir); checks != screens*(2*2*5+2) {
		t.Errorf("%d checks", checks)
	}
	pictures, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil || len(pictures) != screens*(2*2+2) {
		t.Errorf("%d screenshots: %v", len(pictures), err)
	}
}

// What owners do that takes longer: an import with a reload in the middle, two people who change one
// link, a server that is away for a while, ten thousand links.
func TestWork(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			if checks := serve(t, engine).run("work.mjs"); checks != 11 {
				t.Errorf("%d checks", checks)
			}
		})
	}
}
