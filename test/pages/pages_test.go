// Package pages shows the pages of package page to a real browser (Chromium), at
// three sizes and in both colour schemes, and to a checker of accessibility
// (axe-core). It acts on them as visitors do.
//
// `go test -artifacts -outputdir <folder> ./test/pages` keeps the screenshots.
package pages

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/test/chromium"
)

// install gets the packages as package-lock.json has them.
var install = sync.OnceValue(func() error {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed; this test needs Node.js 20 or later: %w", name, err)
		}
	}
	if _, err := os.Stat("node_modules/axe-core/package.json"); err == nil {
		return nil
	}
	if out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").
		CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// start serves pages, and returns the address and the names of them.
func start(t *testing.T, fill func(*testing.T, *album)) (address string, names []string) {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a := newAlbum(t, server.URL)
	fill(t, a)
	names = slices.Sorted(maps.Keys(a.pages))
	for name, body := range a.pages {
		if len(body) > page.MaxPageBytes {
			t.Errorf("%s has %d bytes", name, len(body))
		}
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", page.Policy(nonce))
			w.Write(body)
		})
	}
	mux.HandleFunc("/pages.json", func(w http.ResponseWriter, _ *http.Request) { json.MarshalWrite(w, names) })
	for _, elsewhere := range []string{"/install", "/web", "/fallback"} {
		mux.HandleFunc(elsewhere, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,">`)
		})
	}
	return server.URL, names
}

// run has a script check the pages, and returns how many checks it made.
func run(t *testing.T, script string, args ...string) (checks int) {
	t.Helper()
	command := chromium.Script(t, script, args...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var found struct{ Page, Check, Problem string }
		if err := json.Unmarshal(lines.Bytes(), &found, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s printed %q: %v", script, lines.Text(), err)
		}
		checks++
		if found.Problem != "" {
			t.Errorf("%s, %s: %s", found.Page, found.Check, found.Problem)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &complaints)
	}
	return checks
}

// Every page is accessible, fits, asks nobody for anything, and has buttons for
// fingers, on phones, tablets and desktops, light and dark.
func TestLooks(t *testing.T) {
	t.Parallel()
	address, names := start(t, looks)
	folder := t.ArtifactDir()
	if checks := run(t, "look.mjs", address, folder); checks != len(names)*2*3*4 {
		t.Errorf("%d checks of %d pages", checks, len(names))
	}
	pictures, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil || len(pictures) != len(names)*2*3 {
		t.Errorf("%d screenshots of %d pages: %v", len(pictures), len(names), err)
	}
}

// The pages open the app, go elsewhere when there is none, copy, and can be used
// with a keyboard and without scripts.
func TestActs(t *testing.T) {
	t.Parallel()
	address, names := start(t, acts)
	const single, opening = 9, 2 // checks of one page, pages that open the app at once
	if checks := run(t, "act.mjs", address); checks != single+2*len(names)-opening {
		t.Errorf("%d checks of %d pages", checks, len(names))
	}
}
