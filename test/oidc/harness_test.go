package oidc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/test/program"
)

const (
	audience = "https://waymark.example/api"
	patience = 2 * time.Minute // Node.js beside other tests has taken 30 s to start
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "waymark-oidc-")
	if err != nil {
		panic(err)
	}
	// go test remembers a result until a file changes that the test looked at:
	// these are what the command is built of.
	for _, sources := range []string{"../../cmd", "../../internal", "../../dashboard", "../../go.mod", "provider.mjs",
		"package-lock.json"} {
		if err := filepath.WalkDir(sources, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		}); err != nil {
			panic(err)
		}
	}
	if binary, err = program.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// install gets the provider's packages as package-lock.json has them.
var install = sync.OnceValue(func() error {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed; this test needs Node.js 20 or later: %w", name, err)
		}
	}
	if _, err := os.Stat("node_modules/playwright-core/package.json"); err == nil {
		return nil
	}
	if out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").
		CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// child is a process that ends with the test.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{}
	once sync.Once
}

// launch starts a program and gives each line of one of its outputs to line.
func launch(t *testing.T, cmd *exec.Cmd, fromStderr bool, line func(string)) *child {
	t.Helper()
	c := &child{t: t, cmd: cmd, log: &bytes.Buffer{}, done: make(chan struct{})}
	pipe, other := cmd.StdoutPipe, &cmd.Stderr
	if fromStderr {
		pipe, other = cmd.StderrPipe, &cmd.Stdout
	}
	*other = c.log
	output, err := pipe()
	if err != nil {
		t.Fatal(err)
	}
	// A child that reads its input sees it end when this process does.
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			line(lines.Text())
		}
		cmd.Wait()
	}()
	t.Cleanup(c.stop)
	return c
}

func (c *child) stop() {
	c.once.Do(func() {
		c.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-c.done:
		case <-time.After(patience):
			c.t.Errorf("%s did not end", c.cmd.Path)
			c.cmd.Process.Kill()
			<-c.done
		}
	})
}

// await returns what the child tells, or fails with what it wrote.
func await(t *testing.T, c *child, what <-chan string) string {
	t.Helper()
	select {
	case text := <-what:
		return text
	case <-c.done:
		t.Fatalf("%s ended: %s", c.cmd.Path, c.log)
	case <-time.After(patience):
		t.Fatalf("%s did not start", c.cmd.Path)
	}
	return ""
}

// provider is a running OpenID Connect provider.
type provider struct {
	*child
	issuer string
}

func startProvider(t *testing.T, port string) *provider {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	issuer := make(chan string, 100)
	c := launch(t, exec.Command("node", "provider.mjs", port), false, func(line string) { issuer <- line })
	return &provider{child: c, issuer: await(t, c, issuer)}
}

// mint gets a token for a user from the provider's token endpoint.
func (p *provider) mint(t *testing.T, sub string, changes ...string) string {
	t.Helper()
	form := url.Values{
		"grant_type": {"urn:waymark:test"}, "client_id": {"test"}, "client_secret": {"test"},
		"sub": {sub}, "audience": {audience}, "ttl": {"600"},
	}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	response, err := http.PostForm(p.issuer+"/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(text, &answer) != nil || strings.Count(answer.Token, ".") != 2 {
		t.Fatalf("token endpoint: %s %s %v", response.Status, text, err)
	}
	return answer.Token
}

// keys starts the provider anew with these keys, the first of which signs.
func (p *provider) keys(t *testing.T, names ...string) {
	t.Helper()
	p.put(t, "/control/keys?keys="+strings.Join(names, ","))
}

// put tells the provider something.
func (p *provider) put(t *testing.T, what string) {
	t.Helper()
	request, err := http.NewRequest("PUT", p.issuer+what, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Fatal(response.Status)
	}
}

// fetched returns how often the keys were fetched.
func (p *provider) fetched(t *testing.T) string {
	t.Helper()
	response, err := http.Get(p.issuer + "/control/fetched")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// freeAddress returns an address of this machine at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// waymark is a running `waymark serve`.
type waymark struct {
	*child
	t    *testing.T
	api  string
	data string
	// warned has the warnings in the log.
	warned chan string
}

// run runs a command beside it and returns its output.
func (w *waymark) run(args ...string) string {
	w.t.Helper()
	command := exec.Command(binary, append(args, "--data-dir", w.data)...)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		w.t.Fatalf("%v: %v\n%s%s", args, err, out, &complaints)
	}
	return strings.TrimSpace(string(out))
}

func serve(t *testing.T, data, issuer string, flags ...string) *waymark {
	t.Helper()
	args := append([]string{
		"serve", "--data-dir", data, "--api-addr", "127.0.0.1:0", "--public-addr", "127.0.0.1:0", "--metrics-addr",
		"127.0.0.1:0",
		"--platform-zone", "links.example", "--oidc-issuer", issuer, "--oidc-audience", audience, "--limit-scale",
		"1000",
	}, flags...)
	address, warned := make(chan string, 1), make(chan string, 100)
	c := launch(t, exec.Command(binary, args...), true, func(line string) {
		if strings.Contains(line, "level=WARN") {
			warned <- line
		}
		if _, at, ok := strings.Cut(line, "what=api address="); ok {
			address <- at
		}
	})
	return &waymark{child: c, t: t, api: "http://" + await(t, c, address) + "/v1", data: data, warned: warned}
}

// me is the answer of getMe.
type me struct {
	status     int
	retryAfter string
	Data       struct {
		UserID      string  `json:"userId"`
		ActorType   string  `json:"actorType"`
		DisplayName *string `json:"displayName"`
	} `json:"data"`
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (w *waymark) me(token string) (m me) {
	w.t.Helper()
	request, err := http.NewRequest("GET", w.api+"/me", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&m); err != nil {
		w.t.Fatal(err)
	}
	m.status, m.retryAfter = response.StatusCode, response.Header.Get("Retry-After")
	return m
}

func (w *waymark) accepts(name, token string) me {
	w.t.Helper()
	m := w.me(token)
	if m.status != http.StatusOK || m.Data.ActorType != "human" || m.Data.UserID == "" {
		w.t.Errorf("%s: %+v", name, m)
	}
	return m
}

// refuses expects a refusal; why, where given, is part of what it says.
func (w *waymark) refuses(name, token string, why ...string) {
	w.t.Helper()
	m := w.me(token)
	if m.status != http.StatusUnauthorized || m.Error.Code != "unauthenticated" || m.Data.UserID != "" ||
		!strings.Contains(m.Error.Message, strings.Join(why, " ")) {
		w.t.Errorf("%s: %+v", name, m)
	}
}
