// Package server is the API listener's outermost layer: request ids, CORS,
// panics, routes that do not exist, the pages and documents that need no
// credential, health and metrics. Operations come from package op.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
)

// Options are what the listener needs besides the operations.
type Options struct {
	Service *op.Service
	Log     *slog.Logger
	// CORSOrigins may call the API from a browser.
	CORSOrigins []string
	// Ready reports whether the process can do its work.
	Ready func(context.Context) error
}

// Handler is the API listener.
type Handler struct {
	Options
	mux    *http.ServeMux
	routes map[string]*route
}

// route is one pattern of paths with the methods it has.
type route struct {
	h       *Handler
	pattern string
	methods map[string]http.Handler
}

// New returns the handler of the API listener.
func New(o Options) *Handler {
	h := &Handler{Options: o, mux: http.NewServeMux(), routes: map[string]*route{}}
	o.Service.Handlers(h.mount)
	h.mountDocuments()
	h.mount(http.MethodGet, "/healthz", http.HandlerFunc(h.healthz))
	h.mount(http.MethodGet, "/readyz", http.HandlerFunc(h.readyz))
	return h
}

func (h *Handler) mount(method, pattern string, handler http.Handler) {
	r := h.routes[pattern]
	if r == nil {
		r = &route{h: h, pattern: pattern, methods: map[string]http.Handler{}}
		h.routes[pattern] = r
		h.mux.Handle(pattern, r)
	}
	r.methods[method] = handler
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := ids.Request()
	r = r.WithContext(op.WithRequestID(r.Context(), id))
	header := w.Header()
	header.Set("X-Request-Id", id)
	header.Set("Cache-Control", "no-store, no-transform")
	observed := &responseWriter{ResponseWriter: w}
	started := time.Now()
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
			h.Log.Error("panic", "request_id", id, "cause", cause, "stack", stack())
			if observed.status == 0 {
				refusal, _ := fault.From(errPanic)
				h.Service.WriteError(observed, id, refusal)
			}
		}
		h.Log.Info("request", "request_id", id, "method", r.Method, "route", observed.route, "status", observed.status,
			"duration_ms", float64(time.Since(started).Microseconds())/1000)
	}()
	// The mux answers unknown paths in plain text and redirects unclean ones:
	// it is asked only where neither can happen.
	if _, pattern := h.mux.Handler(r); pattern == "" || !cleanPath(r.URL) {
		h.cors(observed, r)
		h.refuse(observed, r, notFound())
		return
	}
	h.mux.ServeHTTP(observed, r)
}

// ServeHTTP picks the method's handler.
func (p *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.(*responseWriter).route = p.pattern
	if p.h.cors(w, r) {
		answerPreflight(w, p.methods)
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	handler := p.methods[method]
	if handler == nil {
		w.Header().Set("Allow", allow(p.methods))
		p.h.refuse(w, r, fault.New(fault.MethodNotAllowed, "This method is not allowed here."))
		return
	}
	handler.ServeHTTP(w, r)
}

// refuse answers a call that no operation takes; such calls are counted for
// their address, because no credential's windows bound them.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, refusal *fault.Error) {
	standings, err := h.Service.CountAddress(r)
	if err != nil {
		refusal, _ = fault.From(err)
		w.Header().Del("Allow")
		op.RateHeaders(w.Header(), standings)
	}
	h.Service.WriteError(w, op.RequestID(r.Context()), refusal)
}

func notFound() *fault.Error { return fault.New(fault.NotFound, "There is no such route.") }

// cleanPath refuses paths that are not in their one form: they are routes that
// do not exist, never redirects (completions.md §1, Paths).
func cleanPath(u *url.URL) bool {
	path := u.Path
	if path == "/docs/api/errors/" {
		return true
	}
	if !strings.HasPrefix(path, "/") || len(path) > 1 && strings.HasSuffix(path, "/") || strings.Contains(path, "//") ||
		!utf8.ValidString(path) || strings.ContainsRune(path, 0) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." })
}

func allow(methods map[string]http.Handler) string {
	var all []string
	for m := range methods {
		all = append(all, m)
		if m == http.MethodGet {
			all = append(all, http.MethodHead)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (h *Handler) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write([]byte(`{"status":"ok"}`))
}

func (h *Handler) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := h.Ready(ctx); err != nil {
		h.Log.Warn("not ready", "error", err)
		refusal := fault.New(fault.Unavailable, "The service is not ready.")
		refusal.RetryAfter = 1
		h.Service.WriteError(w, op.RequestID(r.Context()), refusal)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write([]byte(`{"status":"ready"}`))
}
