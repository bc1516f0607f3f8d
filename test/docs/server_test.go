package docs_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/test/program"
)

// patience bounds every wait: generous, because it asserts no performance.
const patience = 2 * time.Minute

// server is waymark serve --dev, and a proxy through which the shell reaches it:
// it sees what curl was answered, also where an example does not look.
type server struct {
	stdout, stderr apitest.Journal
	proxy          string
	tools          string

	mu      sync.Mutex
	answers []string // that were no success, since the last run
	count   int      // of all answers since the last run
}

func start(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	binary, err := program.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{tools: toolsFolder(t, binary)}
	// Port 1 answers no DNS question: webhooks of the examples go nowhere.
	cmd := exec.Command(binary, "serve", "--dev", "--data-dir", filepath.Join(dir, "data"), "--limit-scale", "1000",
		"--dns-resolver", "127.0.0.1:1",
		"--api-addr", "127.0.0.1:0", "--public-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0")
	cmd.Env = []string{"HOME=" + dir}
	cmd.Stdout, cmd.Stderr = &s.stdout, &s.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve ended: %v\n%s", err, s.stderr.String())
		}
	})
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {},
		Transport: &http.Transport{DialContext: s.dial},
		ModifyResponse: func(r *http.Response) error {
			s.answered(r.Request, r.Status,
				r.StatusCode < 400)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			s.answered(r, err.Error(), false)
			w.WriteHeader(http.StatusBadGateway)
		},
	})
	t.Cleanup(proxy.Close)
	s.proxy = proxy.URL
	return s
}

var listening = regexp.MustCompile(`msg=listening what=(?:api|public) address=(127\.0\.0\.1:\d+)`)

// dial reaches the server's own ports, under whatever name, and nothing else.
func (s *server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	for _, m := range listening.FindAllStringSubmatch(s.stderr.String(), -1) {
		if strings.HasSuffix(m[1], ":"+port) {
			return new(net.Dialer).DialContext(ctx, network, m[1])
		}
	}
	return nil, &net.AddrError{Err: "not the server under test", Addr: address}
}

func (s *server) answered(r *http.Request, status string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if !ok {
		s.answers = append(s.answers, r.Method+" "+r.URL.String()+": "+status)
	}
}

// welcome returns what the server prints once it is there.
func (s *server) welcome(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if text := s.stdout.String(); strings.HasSuffix(text, "done\n\n") {
			return text
		}
		if time.Now().After(deadline) {
			t.Fatalf("no welcome: %s\n%s", s.stdout.String(), s.stderr.String())
		}
	}
}

// run pastes a script into a fresh shell and returns what it prints. The test
// fails unless each command and each request succeeds.
func (s *server) run(t *testing.T, dir, script string) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errors apitest.Journal
	cmd := exec.CommandContext(ctx, sh, "-eu")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + s.tools, "HOME=" + dir, "http_proxy=" + s.proxy}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(script), &out, &errors
	err = cmd.Run()
	s.mu.Lock()
	refused, count := s.answers, s.count
	s.answers, s.count = nil, 0
	s.mu.Unlock()
	missing := regexp.MustCompile(`(?m)^.*(?:not found|No such file).*$`).FindString(errors.String())
	// Requests of waymark do not come by the proxy; its exit code tells how they were answered.
	asked := count > 0 || strings.Contains(script, "waymark ")
	if err != nil || len(refused) > 0 || !asked || missing != "" {
		t.Errorf("%v after %d answers; not successful were\n%s\n%s\nprinted\n%s\n%s", err, count,
			strings.Join(refused, "\n"), missing, out.String(), errors.String())
	}
	return out.String()
}
