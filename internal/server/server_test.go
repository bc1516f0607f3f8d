package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
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

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/listen"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/server"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func get(i *apitest.Installation, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "https://api.example"+path, nil)
	for n := 0; n+1 < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	r.RemoteAddr = "203.0.113.7:1"
	w := httptest.NewRecorder()
	i.API.ServeHTTP(w, r)
	return w
}

func TestDocuments(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	for path, contentType := range map[string]string{
		"/openapi.yaml": "application/yaml", "/openapi.json": "application/json", "/docs/reference": "text/html",
		"/docs/api/errors/": "text/html", "/docs/api/errors": "text/html",
		"/docs/": "text/html", "/docs/links": "text/html", "/docs/links.md": "text/plain", "/docs/mappings/bitly.json": "application/json",
		"/docs/redoc-2.5.4.js": "text/javascript", "/docs/start.js": "text/javascript",
		"/favicon.svg": "image/svg+xml", "/favicon.ico": "image/x-icon", "/healthz": "application/json",
		"/readyz": "application/json",
	} {
		w := get(i, path)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), contentType) || w.Header().
			Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if strings.HasPrefix(contentType, "text/html") {
			policy := w.Header().Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'") || w.Header().
				Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", path, w.Header())
			}
			for _, loaded := range regexp.MustCompile(`(?:src|<link[^>]* href)="([^"]*)"`).
				FindAllStringSubmatch(w.Body.String(), -1) {
				if w := get(i, loaded[1]); w.Code != 200 {
					t.Errorf("%s loads %s, which answers %d", path, loaded[1], w.Code)
				}
			}
		}
	}
	errors := get(i, "/docs/api/errors/").Body.String()
	for _, r := range fault.Reasons {
		if !strings.Contains(errors, "<code>"+string(r.Code)+"</code>") {
			t.Errorf("the page about errors does not explain the reason %s", r.Code)
		}
	}
	for _, row := range fault.Codes {
		if !strings.Contains(errors, `id="`+strings.ReplaceAll(string(row.Code), "_", "-")+`"`) {
			t.Errorf("the errors page has no anchor for %s", row.Code)
		}
	}
	if strings.Contains(errors, "<p></p>") {
		t.Error("a code has no explanation")
	}
}

// An address without its slash, as it is typed, leads to the index.
func TestDocumentationWithoutSlash(t *testing.T) {
	w := get(apitest.New(t, "sqlite", apitest.Options{}), "/docs")
	if w.Code != 303 || w.Header().Get("Location") != "/docs/" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestRoot leads to the documentation and tells programs where everything is.
func TestRoot(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	w := get(i, "/")
	if w.Code != 302 || w.Header().Get("Location") != "/docs/" || w.Header().
		Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	var places map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &places); err != nil {
		t.Fatal(err)
	}
	if places["api"] != op.BasePath {
		t.Errorf("the API is at %q", places["api"])
	}
	delete(places, "api")
	for name, path := range places {
		if w := get(i, path); w.Code != 200 {
			t.Errorf("%s: %s answers %d", name, path, w.Code)
		}
	}
}

// TestDocumentsTravelSmall asks for documents as clients do that take gzip, that
// take none, and that have them already.
func TestDocumentsTravelSmall(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	for path, atMost := range map[string]int{"/docs/redoc-2.5.4.js": 400_000, "/openapi.json": 60_000,
		"/openapi.yaml": 60_000, "/docs/reference": 1_000, "/docs/operating": 25_000, "/favicon.ico": 2_000} {
		plain := get(i, path)
		tags := map[string]bool{}
		for _, c := range []struct {
			accepted string
			gzipped  bool
		}{
			{"gzip", true}, {"br, gzip", true}, {"br, GZIP;q=0.5", true}, {"gzip; q=1", true},
			{"", false}, {"identity", false}, {"br", false}, {"gzip;q=0", false}, {"gzip; q=0.0, br", false},
			{"gzip;q=x", false}, {"xgzip", false},
		} {
			w := get(i, path, "Accept-Encoding", c.accepted)
			body := w.Body.Bytes()
			if c.gzipped {
				if len(body) > atMost {
					t.Errorf("%s: %d bytes, want at most %d", path, len(body), atMost)
				}
				r, err := gzip.NewReader(w.Body)
				if err != nil {
					t.Fatalf("%s as %q: %v", path, c.accepted, err)
				}
				if body, err = io.ReadAll(r); err != nil {
					t.Fatal(err)
				}
			}
			header := w.Header()
			if w.Code != 200 || (header.Get("Content-Encoding") == "gzip") != c.gzipped ||
				header.Get("Vary") != "Accept-Encoding" || !bytes.Equal(body, plain.Body.Bytes()) {
				t.Errorf("%s as %q: %d %v", path, c.accepted, w.Code, header)
			}
			if want := path == "/docs/redoc-2.5.4.js"; strings.HasSuffix(header.Get("Cache-Control"),
				", immutable") != want || (header.Get("Cache-Control") == "no-cache") == want {
				t.Errorf("%s: Cache-Control is %q", path, header.Get("Cache-Control"))
			}
			tag := header.Get("ETag")
			tags[tag] = true
			for known, status := range map[string]int{tag: 304, "W/" + tag: 304, `"another", ` + tag: 304, "*": 304,
				`"another"`: 200, strings.Trim(tag, `"`): 200} {
				again := get(i, path, "Accept-Encoding", c.accepted, "If-None-Match", known)
				if again.Code != status || (again.Body.Len() == 0) != (status == 304) || again.Header().
					Get("ETag") != tag || status == 304 && again.Header().Get("Content-Encoding") != "" {
					t.Errorf("%s as %q, known as %s: %d %v", path, c.accepted, known, again.Code, again.Header())
				}
			}
		}
		if len(tags) != 2 {
			t.Errorf("%s has the ETags %v", path, tags)
		}
	}
}

// TestUnknownRoutes looks for the route that was meant.
func TestUnknownRoutes(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	for path, meant := range map[string]string{
		"/links":                "/v1/links",
		"/links/":               "/v1/links",
		"/links/a/tags?b=c":     "/v1/links/{linkId}/tags",
		"/v1/links/":            "/v1/links",
		"/v1/links//":           "/v1/links",
		"/v1//links":            "/v1/links",
		"/v1/../v1/me":          "/v1/me",
		"/me":                   "/v1/me",
		"/v1/docs/":             "",
		"/docs/api/errors//":    "/docs/api/errors",
		"/openapi.json/":        "/openapi.json",
		"//":                    "/",
		"/v1":                   "",
		"/v1/":                  "",
		"/v1/link":              "",
		"/v1/links%00":          "",
		"/links/%ff":            "",
		"/v1/v1/links":          "",
		"/<script>alert(1)":     "",
		"/links/<script>a":      "/v1/links/{linkId}",
		"/v1/links/x/tags/y/z/": "",
	} {
		w := get(i, path)
		want := "There is no such route. The routes are listed at /docs/reference."
		if meant != "" {
			want = "There is no such route. Did you mean " + meant + "?"
		}
		if w.Code != 404 || w.Header().Get("Location") != "" ||
			!strings.Contains(w.Body.String(), `"code":"not_found","message":"`+want+`"`) {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
}

func TestNotReady(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	i.DB.Close()
	w := get(i, "/readyz")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(w.Body.String(), `"service_unavailable"`) {
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
	service := op.New(op.Options{DB: db, Log: logger, LimitScale: 1, DocsURL: "https://api.example/docs",
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.7") }})
	h := server.New(server.Options{Service: service, Log: logger,
		Ready: func(context.Context) error { panic("secret cause") }})
	inner, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, MaxHeaderBytes: 8 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(),
		slog.LevelDebug)}
	go s.Serve(listen.New(inner, listen.Options{Max: 100, Wrap: func(c net.Conn) net.Conn {
		return server.Conn(c, service)
	}}))
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
		"two lengths": {"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
			"invalid_request"},
		"huge header": {"GET /v1/me HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 20<<10) + "\r\n\r\n", 400,
			"invalid_request"},
		"length and coding": {"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n", 400, "invalid_request"},
		"bad escape": {"GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"},
		"panic":      {"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 500, "internal_error"},
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
		if err != nil || r.StatusCode != c.status || !strings.Contains(string(body), `"code":"`+c.code+`"`) ||
			id == "" || !strings.Contains(string(body), id) {
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

// A client that still sends when its request is refused reads the answer to its end: the
// connection says that nothing more comes before it is closed.
func TestRefusedClientReadsTheEnd(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	if err := server.Conn(near, nil).(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Errorf("a connection that has no half: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	served := <-accepted
	defer served.Close()
	if err := server.Conn(served, nil).(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(client); err != nil || len(rest) > 0 {
		t.Errorf("the client reads %q, %v", rest, err)
	}
}
