// Package proxies_test puts nginx, Caddy and HAProxy in front of a running Waymark,
// as docs/proxies.md configures them, and asks the public listener itself in every
// form that a Host header can have.
package proxies_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/test/program"
)

// patience bounds every wait: generous, because it asserts no performance.
const patience = time.Minute

// launch starts a program that ends with the test.
func launch(t *testing.T, cmd *exec.Cmd) *apitest.Journal {
	t.Helper()
	written := &apitest.Journal{}
	cmd.Stdout, cmd.Stderr = written, written
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", filepath.Base(cmd.Path), written)
		}
	})
	return written
}

func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s: %v", patience, what, err)
		}
	}
}

// waymark is a running server with an owner.
type waymark struct {
	api, public, token string
	process            *os.Process
}

var listening = regexp.MustCompile(`msg=listening what=(api|public) address=(\S+)`)

func build(t *testing.T) (binary string) {
	t.Helper()
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func start(t *testing.T) *waymark {
	t.Helper()
	return startAt(t, build(t), filepath.Join(t.TempDir(), "data"), "127.0.0.1:0")
}

// startAt starts a server of an installation that visitors reach at an address.
func startAt(t *testing.T, binary, data, public string) *waymark {
	t.Helper()
	cmd := exec.Command(binary, "serve", "--data-dir", data, "--platform-zone", "localhost",
		"--api-addr", "127.0.0.1:0", "--public-addr", public, "--metrics-addr", "", "--limit-scale", "1000",
		"--trusted-proxies", "127.0.0.1", "--country-header", "CF-IPCountry")
	written := launch(t, cmd)
	w := &waymark{process: cmd.Process}
	eventually(t, "waymark listens", func() error {
		for _, m := range listening.FindAllStringSubmatch(written.String(), -1) {
			if m[1] == "api" {
				w.api = m[2]
			} else {
				w.public = m[2]
			}
		}
		if w.api == "" || w.public == "" {
			return errors.New(written.String())
		}
		return nil
	})
	token, err := exec.Command(binary, "session", "issue", "--data-dir", data, "--email", "ann@example.com").Output()
	if err != nil {
		t.Fatal(err)
	}
	w.token = strings.TrimSpace(string(token))
	return w
}

type m map[string]any

// call calls an operation that must succeed, and returns its data.
func (w *waymark) call(t *testing.T, method, path, revision string, body any) (data map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(method, "http://"+w.api+"/v1"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		r.Body, r.ContentLength = nil, 0
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.token}, "Idempotency-Key": {uuid.NewString()},
		"Content-Type": {"application/json"}}
	if revision != "" {
		r.Header.Set("If-Match", `"`+revision+`"`)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	var envelope struct{ Data any }
	if err == nil {
		err = json.Unmarshal(answer, &envelope)
	}
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s, %v", method, path, response.StatusCode, answer, err)
	}
	if list, ok := envelope.Data.([]any); ok {
		envelope.Data = list[0]
	}
	return envelope.Data.(map[string]any)
}

// site makes an app with a hostname below localhost that has the link /hello, which
// leads visitors from Germany elsewhere, and an iOS app. It returns the app's id.
func (w *waymark) site(t *testing.T, prefix string) string {
	t.Helper()
	app := w.call(t, "POST", "/apps", "", m{"name": prefix})["id"].(string)
	w.call(t, "POST", "/domains", "", m{"appId": app, "mode": "platform", "prefix": prefix})
	domain := w.call(t, "GET", "/domains?appId="+app, "", nil)
	w.call(t, "PUT", "/domains/"+domain["id"].(string)+"/native-config", domain["revision"].(string),
		m{"ios": m{"appIds": []string{"A1B2C3D4E5.com.example." + prefix}}})
	link := w.call(t, "POST", "/links", "", m{"appId": app, "domain": prefix + ".localhost", "slug": "hello",
		"desktopUrl": "https://example.com/" + prefix})
	w.call(t, "PUT", "/links/"+strings.ReplaceAll(link["id"].(string), ":", "%3A")+"/routing-rules",
		link["revision"].(string), m{"rules": []m{{"country": "DE", "destinationUrl": "https://example.de/"}}})
	eventually(t, "the site is published", func() error {
		for _, path := range []string{"/.well-known/apple-app-site-association", "/hello"} {
			conn, err := net.Dial("tcp", w.public)
			if err != nil {
				return err
			}
			defer conn.Close()
			fmt.Fprintf(conn, "HEAD %s HTTP/1.0\r\nHost: %s.localhost\r\n\r\n", path, prefix)
			if answer, _ := io.ReadAll(conn); !bytes.Contains(answer, []byte(" 200 ")) &&
				!bytes.Contains(answer, []byte(" 302 ")) {
				return errors.New(string(answer))
			}
		}
		return nil
	})
	return app
}

// visitor is a browser at an address of this machine.
func visitor(t *testing.T, from, to string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, to)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// freePort returns an address at which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
