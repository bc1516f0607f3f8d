package blob

import (
	"errors"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"
)

var types = map[string]string{".png": "image/png", ".jpg": "image/jpeg"}

// Handler serves the objects of a store at /<name>. They never change, so
// whoever has one need not ask again; and nothing in one may run.
func Handler(s Store, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'")
		h.Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "This address can only be read.", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		object, err := s.Open(r.Context(), name)
		if errors.Is(err, ErrNotFound) {
			http.Error(w, "There is no image at this address.", http.StatusNotFound)
			return
		}
		if err != nil {
			if r.Context().Err() == nil {
				log.Warn("an image cannot be read", "error", err)
			}
			h.Set("Retry-After", "5")
			http.Error(w, "The image cannot be read right now.", http.StatusServiceUnavailable)
			return
		}
		defer object.Close()
		h.Set("Content-Type", types[path.Ext(name)])
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("ETag", `"`+name+`"`)
		http.ServeContent(w, r, "", time.Time{}, object)
	})
}
