package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/server"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func get(i *apitest.Installation, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "https://api.example"+path, nil)
	r.RemoteAddr = "203.0.113.7:1"
	w := httptest.NewRecorder()
	i.API.ServeHTTP(w, r)
	return w
}

func TestDocuments(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	for path, contentType := range map[string]string{
		"/openapi.yaml": "application/yaml", "/openapi.json": "application/json", "/docs": "text/html", "/docs/api/errors/": "text/html", "/docs/api/errors": "text/html",
		"/docs/api-reference.js": "text/javascript", "/docs/start.js": "text/javascript", "/healthz": "application/json", "/readyz": "application/json",
	} {
		w := get(i, path)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), contentType) || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if strings.HasPrefix(contentType, "text/html") {
			policy := w.Header().Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", path, w.Header())
			}
			if other := regexp.MustCompile(`(src|href)="(https?:)?//`).FindString(w.Body.String()); other != "" {
				t.Errorf("%s loads from elsewhere: %s", path, other)
			}
		}
	}
	errors := get(i, "/docs/api/errors/").Body.String()
	for _, row := range fault.Codes {
		if !strings.Contains(errors, `id="`+strings.ReplaceAll(string(row.Code), "_", "-")+`"`) {
			t.Errorf("the errors page has no anchor for %s", row.Code)
		}
	}
	if strings.Contains(errors, "<p></p>") {
		t.Error("a code has no explanation")
	}
}

func TestNotReady(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	i.DB.Close()
	w := get(i, "/readyz")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"service_unavailable"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := get(i, "/healthz"); w.Code != 200 {
		t.Errorf("healthz %d", w.Code)
	}
}

// What no handler sees is answered in the envelope too, and a panic is an
// internal error that tells nothing.
func TestConnectionLevelRefusals(t *testing.T) {
	log := &safeBuilder{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	service := op.New(op.Options{DB: db, Log: logger, LimitScale: 1, DocsURL: "https://api.example/docs", ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.7") }})
	h := server.New(server.Options{Service: service, Log: logger, Ready: func(context.Context) error { panic("secret cause") }})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, MaxHeaderBytes: 8 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug)}
	go s.Serve(server.Listener(inner, service))
	defer s.Close()

	for name, c := range map[string]struct {
		request string
		status  int
		code    string
	}{
		"garbage":          {"\x00\x01\r\n\r\n", 400, "invalid_request"},
		"bad request line": {"GET\r\n\r\n", 400, "invalid_request"},
		"no host":          {"GET /v1/me HTTP/1.1\r\n\r\n", 400, "invalid_request"},
		"bad header":       {"GET /v1/me HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n", 400, "invalid_request"},
		"two lengths":      {"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "invalid_request"},
		"huge header":      {"GET /v1/me HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 20<<10) + "\r\n\r\n", 400, "invalid_request"},
		"bad escape":       {"GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"},
		"panic":            {"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 500, "internal_error"},
	} {
		c1, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c1, c.request)
		r, err := http.ReadResponse(bufio.NewReader(c1), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(r.Body)
		c1.Close()
		id := r.Header.Get("X-Request-Id")
		if err != nil || r.StatusCode != c.status || !strings.Contains(string(body), `"code":"`+c.code+`"`) || id == "" || !strings.Contains(string(body), id) {
			t.Errorf("%s: %d %v %s %v", name, r.StatusCode, r.Header, body, err)
		}
		if strings.Contains(string(body), "secret cause") {
			t.Errorf("%s: the cause was sent: %s", name, body)
		}
	}
	if !strings.Contains(log.String(), "secret cause") {
		t.Error("the cause of a panic was not logged")
	}
}

// safeBuilder gathers a log that several goroutines write.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safeBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
