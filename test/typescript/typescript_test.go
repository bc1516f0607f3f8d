// Package typescript uses the client for TypeScript as its users do: as the package that npm
// installs, in Node.js, Deno and a browser, with the program beside it.
package typescript

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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

const (
	source = "../../clients/typescript"
	// patience bounds every wait: generous, because it asserts no performance.
	patience = 2 * time.Minute
)

// binary is the program, and user is a folder in which the package is installed.
var binary, user string

func TestMain(m *testing.M) {
	os.Exit(prepareAndRun(m))
}

func prepareAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "waymark-typescript-")
	if err == nil {
		defer os.RemoveAll(dir)
		binary, err = program.Build(dir)
	}
	if err == nil {
		user, err = installed(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// installed packs the package, and installs it into an empty folder beside the tests in cases.
func installed(dir string) (user string, err error) {
	for folder, proof := range map[string]string{".": "playwright-core", source: "typescript"} {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", proof, "package.json")); err == nil {
			continue
		}
		if out, err := command(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
			return "", fmt.Errorf("npm ci in %s, which needs Node.js 20 or later: %w\n%s", folder, err, out)
		}
	}
	if out, err := command(source, "npm", "pack", "--pack-destination", dir); err != nil {
		return "", fmt.Errorf("npm pack: %w\n%s", err, out)
	}
	user = filepath.Join(dir, "user")
	if err := os.CopyFS(user, os.DirFS("cases")); err != nil {
		return "", err
	}
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return "", fmt.Errorf("npm pack made %q: %w", packed, err)
	}
	if out, err := command(user, "npm", "install", "--offline", "--no-audit", "--no-fund", packed[0]); err != nil {
		return "", fmt.Errorf("npm install: %w\n%s", err, out)
	}
	return user, nil
}

// command runs a command in a folder, and returns what it prints.
func command(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	return c.CombinedOutput()
}

// delivery is a request as a receiver of webhooks gets it.
type delivery struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// receiver takes what the server sends to https://example.com, and gives it to who asks for the
// deliveries of an app: each once.
type receiver struct {
	mu      sync.Mutex
	arrived map[string][]delivery
	asked   *httptest.Server
	sent    *httptest.Server
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{arrived: map[string][]delivery{}}
	r.sent = httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var event struct {
			AppID string `json:"appId"`
		}
		if err != nil || json.Unmarshal(body, &event) != nil {
			t.Errorf("a delivery has the body %q: %v", body, err)
		}
		headers := map[string]string{}
		for name, values := range request.Header {
			headers[name] = strings.Join(values, ", ")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.arrived[event.AppID] = append(r.arrived[event.AppID], delivery{headers, string(body)})
	}))
	r.asked = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if err := json.MarshalWrite(w, r.take(strings.TrimPrefix(request.URL.Path, "/"))); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(r.sent.Close)
	t.Cleanup(r.asked.Close)
	return r
}

func (r *receiver) take(app string) []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.arrived[app]
	delete(r.arrived, app)
	return taken
}

// server is waymark serve --dev, with a receiver of its webhooks, and a site whose pages may call it.
type server struct {
	api, token string
	webhooks   *receiver
	site       *httptest.Server
}

var (
	listening = regexp.MustCompile(`what=api address=(127\.0\.0\.1:\d+)`)
	session   = regexp.MustCompile(`(?m)^TOKEN=(\S+)\n`)
)

func serve(t *testing.T, engine string) *server {
	t.Helper()
	pages := http.NewServeMux()
	pages.Handle("/", http.FileServer(http.Dir(user)))
	pages.Handle("/moved/", http.RedirectHandler("/", http.StatusFound))
	s := &server{webhooks: receive(t), site: httptest.NewServer(pages)}
	t.Cleanup(s.site.Close)
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.webhooks.sent.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--dev", "--data-dir", filepath.Join(dir, "data"), "--limit-scale", "1000", "--dns-resolver", "127.0.0.1:1",
		"--api-addr", "127.0.0.1:0", "--public-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--cors-origins", s.site.URL,
		"--webhook-allow", "example.com=" + s.webhooks.sent.Listener.Addr().String(), "--webhook-ca", ca}
	if engine == "postgres" {
		args = append(args, "--database", storetest.Empty(t, engine))
	}
	var stdout, stderr apitest.Journal
	c := exec.Command(binary, args...)
	c.Env = []string{"HOME=" + dir}
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Errorf("serve ended: %v\n%s", err, stderr.String())
		}
	})
	for deadline := time.Now().Add(patience); s.token == ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server prints no token:\n%s", stderr.String())
		}
		if printed := session.FindStringSubmatch(stdout.String()); printed != nil {
			s.token = printed[1]
		}
	}
	s.api = "http://" + listening.FindStringSubmatch(stderr.String())[1]
	return s
}

// node runs Node.js in the folder of the user, and returns what it prints.
func (s *server) node(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "node", args...)
	c.Dir = user
	c.Env = append(os.Environ(), "WAYMARK_SERVER="+s.api, "WAYMARK_TOKEN="+s.token, "WAYMARK_RECEIVER="+s.webhooks.asked.URL)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("node %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

var passed = regexp.MustCompile(`(?m)^# tests (\d+)\n# suites 0\n# pass (\d+)\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0$`)

// run runs tests of Node.js, of which there are so many.
func (s *server) run(t *testing.T, want string, files ...string) {
	t.Helper()
	out := s.node(t, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	if counts := passed.FindStringSubmatch(out); counts == nil || counts[1] != want || counts[2] != want {
		t.Errorf("not all of %s tests passed:\n%s", want, out)
	}
}

// What a running server does: calls, lists, files, lost answers, webhooks.
func TestServer(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			serve(t, engine).run(t, "17", "calls.test.mjs", "loss.test.mjs", "webhook.test.mjs")
		})
	}
}

// What the client does by itself: operations, repetitions, bounds, strangers.
func TestClient(t *testing.T) {
	serve(t, "sqlite").run(t, "22", "contract.test.mjs", "retry.test.mjs", "strangers.test.mjs")
}

// The same checks hold in Node.js, in Deno, and in a page of another origin in Chromium.
func TestRuntimes(t *testing.T) {
	s := serve(t, "sqlite")
	input := s.delivered(t)
	if err := os.WriteFile(filepath.Join(user, "page.html"), []byte("<!doctype html><title>A page</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*exec.Cmd{
		"node":     exec.Command("node", "node.mjs"),
		"deno":     exec.Command("node", filepath.Join(here, "node_modules/deno/bin.cjs"), "run", "--no-lock", "--allow-net=127.0.0.1", "deno.mjs"),
		"chromium": chromium.Script(t, filepath.Join(here, "browser.mjs"), s.site.URL+"/page.html"),
	} {
		t.Run(name, func(t *testing.T) {
			c.Dir, c.Env = user, append(c.Environ(), "DENO_DIR="+t.TempDir(), "NO_COLOR=1")
			c.Stdin = bytes.NewReader(input)
			var complaints bytes.Buffer
			c.Stderr = &complaints
			out, err := c.Output()
			var found []struct {
				Name string `json:"name"`
				OK   bool   `json:"ok"`
			}
			if err != nil || json.Unmarshal(out, &found) != nil || len(found) != 9 {
				t.Fatalf("%v, printed %q\n%s", err, out, &complaints)
			}
			for _, check := range found {
				if !check.OK {
					t.Error(check.Name)
				}
			}
		})
	}
}

// delivered has the server send a webhook, and returns what the checks need as JSON.
func (s *server) delivered(t *testing.T) []byte {
	t.Helper()
	printed := s.node(t, "deliver.mjs")
	var given map[string]any
	if err := json.Unmarshal([]byte(printed), &given); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	given["server"], given["token"], given["site"] = s.api, s.token, s.site.URL
	input, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	return input
}
