package server

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/dashboard"
)

const (
	// dashboardPath is where the dashboard lives on the API listener.
	dashboardPath = "/dashboard/"
	// basePlaceholder stands in its pages for the folder of everything else.
	basePlaceholder = "{{base}}"
	// preloadPlaceholder stands for links to the modules that main.js needs, so that a browser
	// asks for all of them at once and not for each when it has read the one before.
	preloadPlaceholder = "{{preload}}"
)

//go:embed static/lost.html
var lostPage []byte

// fileTypes are the kinds of files that the dashboard has. Whatever the machine knows of file
// names does not matter.
var fileTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
	".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
	".md": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
}

// dashboardPolicy is what pages of the dashboard may do: nothing but load files of this
// origin and call it, show images of owners, and send people to an OpenID Connect issuer. The
// origins of both may be empty.
func dashboardPolicy(assets, issuer string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; " +
		"frame-ancestors 'none'; base-uri 'none'; " + strings.TrimSpace("img-src 'self' data: blob: "+assets) + "; " +
		strings.TrimSpace("form-action 'self' "+issuer)
}

// framePolicy is that of the frame in which pages of templates are shown: they have styles of
// their own, and no scripts.
const framePolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; " +
	"form-action 'none'; frame-ancestors 'self'; base-uri 'none'"

// dashboardFiles are the answers at the addresses of the dashboard. Pages keep their
// addresses; everything else stands in a folder that is named by a digest of all files, so
// that browsers keep it for as long as it is the same.
func dashboardFiles(files fs.FS, policy string) (map[string]*document, error) {
	var names []string
	all := map[string][]byte{}
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || fileTypes[path.Ext(name)] == "" {
			return err
		}
		names = append(names, name)
		all[name], err = fs.ReadFile(files, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names { // in their order, which is that of the walk
		file := sha256.Sum256(all[name])
		sum.Write([]byte(name + "\x00"))
		sum.Write(file[:])
	}
	base := dashboardPath + hex.EncodeToString(sum.Sum(nil)[:8])
	var preload strings.Builder
	for _, name := range imported(all, "main.js", nil)[1:] {
		fmt.Fprintf(&preload, "<link rel=\"modulepreload\" href=\"%s/%s\">\n", base, name)
	}
	filled := strings.NewReplacer(basePlaceholder, base, preloadPlaceholder, preload.String())
	answers := map[string]*document{}
	for _, name := range names {
		kind := fileTypes[path.Ext(name)]
		if path.Ext(name) != ".html" {
			answers[base+"/"+name] = &document{kind, loadsNothing, immutable, text(all[name])}
			continue
		}
		page := &document{kind, policy, revalidated, text([]byte(filled.Replace(string(all[name]))))}
		switch name {
		case "index.html":
			answers[dashboardPath] = page
		case "frame.html":
			page.policy = framePolicy
			fallthrough
		default:
			answers[dashboardPath+name] = page
		}
	}
	return answers, nil
}

var importLine = regexp.MustCompile(`(?m)^(?:import|export) .*"(\.{1,2}/[^"]+)";$`)

// imported appends a module and those that it imports, directly or not, to what was found.
func imported(files map[string][]byte, name string, found []string) []string {
	if slices.Contains(found, name) {
		return found
	}
	found = append(found, name)
	for _, line := range importLine.FindAllSubmatch(files[name], -1) {
		found = imported(files, path.Join(path.Dir(name), string(line[1])), found)
	}
	return found
}

// mountDashboard mounts the dashboard.
func (h *Handler) mountDashboard() {
	files, err := dashboardFiles(dashboard.Files, dashboardPolicy(originOf(h.AssetsURL), originOf(h.IssuerURL)))
	if err != nil {
		panic(err) // the files are part of this program
	}
	h.mount(http.MethodGet, "/dashboard", http.RedirectHandler(dashboardPath, http.StatusSeeOther))
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := files[r.URL.Path]
		if d == nil {
			h.refuse(w, r, h.notFound(r))
			return
		}
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		d.ServeHTTP(w, r)
	})
	h.mount(http.MethodGet, dashboardPath+"{$}", serve)
	h.mount(http.MethodGet, dashboardPath+"{file...}", serve)
}

// originOf returns scheme and host of a URL, "" for none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// lost answers a browser that asks for a page of the dashboard which is none.
func lost(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusNotFound)
	w.Write(lostPage) // to a client that may be gone
}

// wantsPage reports whether a client takes HTML, as browsers that go to an address do.
func wantsPage(r *http.Request) bool {
	return slices.ContainsFunc(list(r.Header, "Accept"), func(one string) bool {
		kind, _, _ := strings.Cut(one, ";")
		return strings.EqualFold(strings.TrimSpace(kind), "text/html")
	})
}

// inDashboard reports whether a request asks for something of the dashboard.
func inDashboard(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, dashboardPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}
