package server

import (
	"net/http"
	"slices"
	"strings"
)

// cors answers a configured origin and reports a preflight of one. Other
// origins see no CORS header, so browsers keep the answer from their pages.
func (h *Handler) cors(w http.ResponseWriter, r *http.Request) (preflight bool) {
	if len(h.CORSOrigins) == 0 {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(h.CORSOrigins, origin) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", strings.Join([]string{
		"ETag", "Location", "Retry-After", "Idempotency-Replayed", "X-Request-Id",
		"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Policy",
	}, ", "))
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

func answerPreflight(w http.ResponseWriter, methods map[string]http.Handler) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", allow(methods))
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
