package blob

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		put(t, s, name, "0123456789")
		put(t, s, another, "jpeg")
		h := Handler(s, slog.New(slog.DiscardHandler))
		for _, c := range []struct {
			method, path string
			header       http.Header
			status       int
			body         string
		}{
			{"GET", "/" + name, nil, 200, "0123456789"},
			{"HEAD", "/" + name, nil, 200, ""},
			{"GET", "/" + another, nil, 200, "jpeg"},
			{"GET", "/" + name, http.Header{"If-None-Match": {`"x", "` + name + `"`}}, 304, ""},
			{"GET", "/" + name, http.Header{"If-None-Match": {`W/"` + name + `"`}}, 304, ""},
			{"GET", "/" + name, http.Header{"If-None-Match": {`"` + another + `"`}}, 200, "0123456789"},
			{"GET", "/" + name, http.Header{"Range": {"bytes=2-4"}}, 206, "234"},
			{"GET", "/" + name, http.Header{"Range": {"bytes=-3"}, "If-Range": {`"` + name + `"`}}, 206, "789"},
			{"GET", "/" + name, http.Header{"Range": {"bytes=-3"}, "If-Range": {`"old"`}}, 200, "0123456789"},
			{"GET", "/" + name, http.Header{"Range": {"bytes=20-"}}, 416, "*"},
			{"GET", "/" + strings.Replace(name, "0", "1", 1), nil, 404, "*"},
			{"GET", "/" + strings.Replace(name, "png", "jpg", 1), nil, 404, "*"},
			{"HEAD", "/reflected", nil, 404, "*"},
			{"GET", "/", nil, 404, "*"},
			{"GET", "//" + name, nil, 404, "*"},
			{"GET", "/../assets/" + name, nil, 404, "*"},
			{"GET", "/<script>reflected</script>", nil, 404, "*"},
			{"GET", "/" + name + "/", nil, 404, "*"},
			{"POST", "/" + name, nil, 405, "*"},
			{"DELETE", "/" + name, nil, 405, "*"},
			{"OPTIONS", "/reflected", nil, 405, "*"},
			{"REFLECTED", "/" + name, nil, 405, "*"},
		} {
			r := httptest.NewRequest(c.method, "/", nil)
			r.URL.Path, r.URL.RawQuery = c.path, "reflected=1"
			for k, v := range c.header {
				r.Header[k] = v
			}
			r.Header.Set("Origin", "https://reflected.example")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			body, header := w.Body.String(), w.Header()
			if w.Code != c.status || c.body != "*" && body != c.body {
				t.Errorf("%s %s %v: %d %q, want %d %q", c.method, c.path, c.header, w.Code, body, c.status, c.body)
			}
			if header.Get("X-Content-Type-Options") != "nosniff" ||
				header.Get("Content-Security-Policy") != "default-src 'none'" {
				t.Errorf("%s %s: %v", c.method, c.path, header)
			}
			var dump bytes.Buffer
			header.Write(&dump)
			if strings.Contains(strings.ToLower(dump.String()+body), "reflected") {
				t.Errorf("%s %s reflects: %v %q", c.method, c.path, header, body)
			}
			if c.status < 400 {
				if header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
					!strings.HasPrefix(header.Get("Etag"), `"`) ||
					header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
					t.Errorf("%s %s: %v", c.method, c.path, header)
				}
				if want := map[string]string{"/" + name: "image/png",
					"/" + another: "image/jpeg"}[c.path]; c.status != 304 && header.Get("Content-Type") != want {
					t.Errorf("%s: %v, want %s", c.path, header, want)
				}
			} else if strings.Contains(header.Get("Cache-Control"), "immutable") ||
				!strings.HasPrefix(header.Get("Content-Type"), "text/plain") || header.Get("Etag") != "" {
				t.Errorf("%s %s: %v", c.method, c.path, header)
			}
			if (c.status == 404 || c.status == 405) && header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %v", c.method, c.path, header)
			}
			if allow := header.Get("Allow"); (allow == "GET, HEAD") != (c.status == 405) {
				t.Errorf("%s %s allows %q", c.method, c.path, allow)
			}
		}
	})
}

// A store that is away is not a missing image.
func TestHandlerAway(t *testing.T) {
	broken := newFolder(t)
	if err := os.Remove(broken.path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken.path, nil, 0o600); err != nil { // no folder any more
		t.Fatal(err)
	}
	s := newService(t)
	gone := s.store(t, "images")
	s.Close()
	for what, store := range map[string]Store{"file": broken, "S3": gone} {
		var log bytes.Buffer
		w := httptest.NewRecorder()
		Handler(store, slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(w, httptest.NewRequest("GET", "/"+name, nil))
		header := w.Header()
		if w.Code != 503 || header.Get("Retry-After") == "" || header.Get("Cache-Control") != "no-store" ||
			!strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %v", what, w.Code, header)
		}
		if strings.Contains(w.Body.String(), name) || !strings.Contains(log.String(), name) {
			t.Errorf("%s: the answer is %q, the log %q", what, w.Body, log.String())
		}
	}
}
