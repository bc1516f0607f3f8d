// Package tracingtest has a collector of traces for tests, which reads what it gets as OpenTelemetry's own
// does.
package tracingtest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// Collector gets traces at Address.
type Collector struct {
	// Address is what the program is told, with a name and a password in it.
	Address string

	mu       sync.Mutex
	refusals []int
	requests int
	password string
	problem  string
	resource map[string]any
	spans    []ptrace.Span
}

// Start returns a collector that ends with the test.
func Start(t testing.TB) *Collector {
	c := &Collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.Address = strings.Replace(server.URL, "//", "//user:secret@", 1) + "/base/"
	return c
}

// Refuse has the next requests answered with these statuses.
func (c *Collector) Refuse(statuses ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals = slices.Clone(statuses)
}

// Hold has requests wait until resume is called.
func (c *Collector) Hold() (resume func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	_, c.password, _ = r.BasicAuth()
	switch {
	case len(c.refusals) > 0:
		w.WriteHeader(c.refusals[0])
		c.refusals = c.refusals[1:]
		return
	case r.Method != "POST" || r.URL.Path != "/base/v1/traces" || r.Header.Get("Content-Type") != "application/json":
		c.problem = r.Method + " " + r.URL.Path + " with " + r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if err := c.read(r.Body); err != nil {
		c.problem = err.Error()
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (c *Collector) read(packed io.Reader) error {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	request := ptraceotlp.NewExportRequest()
	if err := request.UnmarshalJSON(body); err != nil {
		return err
	}
	for _, resource := range request.Traces().ResourceSpans().All() {
		c.resource = resource.Resource().Attributes().AsRaw()
		for _, scoped := range resource.ScopeSpans().All() {
			for _, s := range scoped.Spans().All() {
				c.spans = append(c.spans, s)
			}
		}
	}
	return nil
}

// Requests returns how many requests there were, and the password and the attributes of the sender
// that the last one had.
func (c *Collector) Requests() (n int, password string, resource map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests, c.password, c.resource
}

// Spans returns what was sent.
func (c *Collector) Spans(t testing.TB) []ptrace.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.problem != "" {
		t.Errorf("the collector could not read a request: %s", c.problem)
	}
	return slices.Clone(c.spans)
}

// Span returns the only span with a name.
func (c *Collector) Span(t testing.TB, name string) ptrace.Span {
	t.Helper()
	found := slices.DeleteFunc(c.Spans(t), func(s ptrace.Span) bool { return s.Name() != name })
	if len(found) != 1 {
		t.Fatalf("%d spans are named %s, want 1", len(found), name)
	}
	return found[0]
}
