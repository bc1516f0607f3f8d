package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/waymarkhq/waymark/dashboard"
	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
)

// base returns the folder from which the pages of the dashboard load everything else.
func base(t *testing.T, i *apitest.Installation) string {
	t.Helper()
	found := regexp.MustCompile(`"(/dashboard/[0-9a-f]{16})/frame\.js"`).FindStringSubmatch(get(i, "/dashboard/frame.html").Body.String())
	if found == nil {
		t.Fatal("the frame loads no script")
	}
	return found[1]
}

// The page names each module that is needed at once, and only those, and each is there.
func TestModulesAreLoadedAtOnce(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	page := get(i, "/dashboard/").Body.String()
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`<link rel="modulepreload" href="([^"]+)">`).FindAllStringSubmatch(page, -1) {
		if named[m[1]] {
			t.Errorf("%s is named twice", m[1])
		}
		named[m[1]] = true
		if w := get(i, m[1]); w.Code != 200 {
			t.Errorf("%s: %d", m[1], w.Code)
		}
	}
	needed := map[string]bool{}
	var read func(address string)
	read = func(address string) {
		for _, m := range regexp.MustCompile(`(?m)^import [^(]*?"([^"]+)"`).FindAllStringSubmatch(get(i, address).Body.String(), -1) {
			if to := path.Join(path.Dir(address), m[1]); !needed[to] {
				needed[to] = true
				read(to)
			}
		}
	}
	read(base(t, i) + "/main.js")
	if len(needed) < 15 || !maps.Equal(named, needed) {
		t.Errorf("named are %v, needed are %v", named, needed)
	}
}

func TestDashboard(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{Issuer: actor.RemoteIssuer("https://id.example.com/realm", "waymark", true)})
	const (
		policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; " +
			"frame-ancestors 'none'; base-uri 'none'; img-src 'self' data: blob: https://assets." + apitest.Zone +
			"; form-action 'self' https://id.example.com"
		frame = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; " +
			"frame-ancestors 'self'; base-uri 'none'"
	)
	for path, want := range map[string][3]string{
		"/dashboard/":            {"text/html; charset=utf-8", "no-cache", policy},
		"/dashboard/frame.html":  {"text/html; charset=utf-8", "no-cache", frame},
		base(t, i) + "/frame.js": {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "default-src 'none'"},
	} {
		w := get(i, path)
		h := w.Header()
		if got := [3]string{h.Get("Content-Type"), h.Get("Cache-Control"), h.Get("Content-Security-Policy")}; w.Code != 200 || got != want {
			t.Errorf("%s: %d %q, want %q", path, w.Code, got, want)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" ||
			h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("Content-Length") == "" || h.Get("ETag") == "" {
			t.Errorf("%s: %v", path, h)
		}
		if strings.Contains(w.Body.String(), "{{") {
			t.Errorf("%s: %s", path, w.Body)
		}
		if again := get(i, path, "If-None-Match", h.Get("ETag")); again.Code != 304 {
			t.Errorf("%s is sent again: %d", path, again.Code)
		}
		for coding, open := range map[string]func(io.Reader) (io.Reader, error){
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		} {
			packed := get(i, path, "Accept-Encoding", "br, "+coding)
			if packed.Header().Get("Content-Encoding") != coding || packed.Header().Get("ETag") == h.Get("ETag") {
				t.Errorf("%s: asked for %s, got %v", path, coding, packed.Header())
				continue
			}
			r, err := open(packed.Body)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r); err != nil || !bytes.Equal(text, w.Body.Bytes()) {
				t.Errorf("%s in %s is %q (%v)", path, coding, text, err)
			}
		}
		if both := get(i, path, "Accept-Encoding", "gzip, deflate, br, zstd"); both.Header().Get("Content-Encoding") != "zstd" {
			t.Errorf("%s: %v", path, both.Header())
		}
	}
	w := get(apitest.New(t, "sqlite", apitest.Options{}), "/dashboard/")
	if got := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(got, "; form-action 'self'") {
		t.Errorf("without an issuer: %s", got)
	}
}

// Every file of the dashboard has an address; what has none is a page in words.
func TestDashboardAddresses(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	folder := base(t, i)
	err := fs.WalkDir(dashboard.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path := folder + "/" + name
		if strings.HasSuffix(name, ".html") {
			path = "/dashboard/" + strings.TrimSuffix(name, "index.html")
		}
		if w := get(i, path); w.Code != 200 {
			t.Errorf("%s answers %d", path, w.Code)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/dashboard/none", "/dashboard/frame.js", "/dashboard/index.html", folder, folder + "/", folder + "/none.js",
		"/dashboard/0000000000000000/frame.js", "/dashboard//", "/dashboard/../dashboard/none", "/dashboard/%00", folder + "/frame.html",
	} {
		w := get(i, path)
		if w.Code != 404 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
			!strings.Contains(w.Body.String(), `<a href="/dashboard/">`) || w.Header().Get("Cache-Control") != "no-store, no-transform" ||
			!strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	for path, want := range map[string]string{"/dashboard": "/dashboard/"} {
		if w := get(i, path); w.Code != 303 || w.Header().Get("Location") != want {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
}

// A person who comes to the API is led to the dashboard; programs are led to the documentation.
func TestRootOfABrowser(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	for accept, want := range map[string]string{
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "/dashboard/", "text/html": "/dashboard/",
		"*/*": "/docs/", "application/json": "/docs/", "": "/docs/",
	} {
		w := get(i, "/", "Accept", accept)
		if got := w.Header().Get("Location"); got != want || w.Code != map[string]int{"/docs/": 302, "/dashboard/": 303}[want] ||
			w.Header().Get("Vary") != "Accept" {
			t.Errorf("Accept %q: %d to %q", accept, w.Code, got)
		}
	}
}
