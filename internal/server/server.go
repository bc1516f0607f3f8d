// Package server is the API listener's outermost layer: request ids, CORS,
// panics, routes that do not exist, the pages and documents that need no
// credential, health and metrics. Operations come from package op.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/signin"
)

// Options are what the listener needs besides the operations.
type Options struct {
	Service *op.Pipeline
	// SignIn is how people sign in to the dashboard, IssuerURL where they do so elsewhere; it may
	// be empty. AssetsURL is where the images are that it shows.
	SignIn    *signin.Handler
	IssuerURL string
	AssetsURL string
	Log       *slog.Logger
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
	o.SignIn.Mount(h.mount)
	h.mountDocuments()
	h.mountDashboard()
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
	if h.routeOf(r) == "" {
		h.cors(observed, r)
		h.refuse(observed, r, h.notFound(r))
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
		allowed := allow(p.methods)
		w.Header().Set("Allow", allowed)
		p.h.refuse(w, r, fault.New(fault.MethodNotAllowed, "The method is not allowed on this route. Use one of %s.",
			allowed))
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
	if refusal.Code == fault.NotFound && inDashboard(r) {
		lost(w)
		return
	}
	h.Service.WriteError(w, op.RequestID(r.Context()), refusal)
}

// routeOf returns the pattern of the route that takes a request, or "".
//
// The mux answers unknown paths in plain text and redirects unclean ones: it is
// asked only where neither can happen. A path has one form; in any other it is a
// route that does not exist, never a redirect (completions.md §1, Paths). Only
// pages may end with a slash.
func (h *Handler) routeOf(r *http.Request) string {
	p := r.URL.Path
	clean := p == path.Clean(p) || h.routes[p+"{$}"] != nil
	if !clean || !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
		return ""
	}
	_, pattern := h.mux.Handler(r)
	return pattern
}

// notFound is the refusal of a route that does not exist. It names the route
// that was probably meant: paths without /v1 and paths that end with a slash
// are the usual mistakes.
func (h *Handler) notFound(r *http.Request) *fault.Error {
	for _, prefix := range []string{"", "/v1"} {
		meant := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path.Clean(prefix + r.URL.Path)}}
		if pattern := h.routeOf(meant); pattern != "" {
			return fault.New(fault.NotFound, "There is no such route. Did you mean %s?",
				strings.TrimSuffix(pattern, "{$}"))
		}
	}
	return fault.New(fault.NotFound, "There is no such route. The routes are listed at /docs/reference.")
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
		refusal := fault.New(fault.Unavailable, "The service is not ready yet. Wait for Retry-After and try again.")
		refusal.RetryAfter = 1
		h.Service.WriteError(w, op.RequestID(r.Context()), refusal)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write([]byte(`{"status":"ready"}`))
}
