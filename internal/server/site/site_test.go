package site_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/docs"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/server/site"
)

const folder = "../../../docs/"

// Each page of the folder is in the navigation, and each page of the navigation in the folder.
func TestNavigationHasEachPage(t *testing.T) {
	var written []string
	names, err := filepath.Glob(folder + "*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, name := range names {
		written = append(written, site.Root+strings.TrimSuffix(filepath.Base(name), ".md"))
	}
	var shown []string
	for address := range site.Pages() {
		if address != site.Root {
			shown = append(shown, address)
		}
	}
	slices.Sort(written)
	slices.Sort(shown)
	if !slices.Equal(written, shown) {
		t.Errorf("the folder docs has\n%s\nthe navigation has\n%s", strings.Join(written, "\n"), strings.Join(shown, "\n"))
	}
}

var (
	code   = regexp.MustCompile("(?s)```.*?\n *```|`[^`\n]*`")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	title  = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	noWord = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors that GitHub gives to a page.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range title.FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?\n *```").ReplaceAllString(page, ""), -1) {
		all[strings.ReplaceAll(strings.ToLower(noWord.ReplaceAllString(m[1], "")), " ", "-")] = true
	}
	return all
}

// Each link of the Markdown leads to a file of the repository, and to a heading that is there.
func TestLinksOfMarkdown(t *testing.T) {
	names, err := filepath.Glob(folder + "*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range append(names, "../../../README.md", "../../../CONTRIBUTING.md", "../../../SECURITY.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(page), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := filepath.Join(filepath.Dir(name), file)
			if file == "" {
				target = name
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(name), m[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			other, err := os.ReadFile(target)
			if err != nil || !anchors(string(other))[anchor] {
				t.Errorf("%s links to %s, which has no such heading (%v)", filepath.Base(name), m[1], err)
			}
		}
	}
	if found < 150 {
		t.Errorf("found %d links", found)
	}
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	id        = regexp.MustCompile(` id="([^"]*)"`)
)

// Each link of the site leads to something that the listener answers, and to an element that is
// there; links into the repository lead to files.
func TestLinksOfSite(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	bodies := map[string]string{}
	get := func(address string) string {
		if body, ok := bodies[address]; ok {
			return body
		}
		w := httptest.NewRecorder()
		i.API.ServeHTTP(w, httptest.NewRequest("GET", "https://api.example"+address, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", address, w.Code)
		}
		bodies[address] = w.Body.String()
		return bodies[address]
	}
	ids := func(body string) map[string]bool {
		all := map[string]bool{}
		for _, m := range id.FindAllStringSubmatch(body, -1) {
			if all[m[1]] {
				t.Errorf("the id %s is there twice", m[1])
			}
			all[m[1]] = true
		}
		return all
	}
	addresses := []string{site.Errors}
	for address := range site.Pages() {
		addresses = append(addresses, address)
	}
	for _, address := range addresses {
		body := get(address)
		for _, never := range []string{"raw HTML omitted", "<script", " style=", "{{"} {
			if text := code.ReplaceAllString(body, ""); strings.Contains(regexp.MustCompile(`(?s)<code.*?</code>`).ReplaceAllString(text, ""), never) {
				t.Errorf("%s has %q", address, never)
			}
		}
		own := ids(body)
		for _, m := range reference.FindAllStringSubmatch(body, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			file, inRepository := strings.CutPrefix(to, "https://github.com/waymarkhq/waymark/blob/main/")
			switch {
			case inRepository:
				if _, err := os.Stat("../../../" + file); err != nil {
					t.Errorf("%s links to %s: %v", address, m[1], err)
				}
			case to == "":
				if !own[anchor] {
					t.Errorf("%s links to %s, which is not there", address, m[1])
				}
			case strings.HasPrefix(to, "/"):
				if there := get(to); anchor != "" && !strings.Contains(there, ` id="`+anchor+`"`) {
					t.Errorf("%s links to %s, which has no such heading", address, m[1])
				}
			case !strings.Contains(to, "://"):
				t.Errorf("%s links to %s", address, m[1])
			}
		}
	}
}

// The Markdown is served beside the pages, as it is.
func TestMarkdownIsServed(t *testing.T) {
	files := site.Files()
	for _, name := range []string{"links.md", "mappings/bitly.json"} {
		want, err := fs.ReadFile(docs.Files, name)
		if err != nil || string(files[path.Join(site.Root, name)]) != string(want) {
			t.Errorf("%s is not served as it is (%v)", name, err)
		}
	}
}

// A page has its headings in a list, links to its neighbours, and marks itself in the navigation.
func TestLayout(t *testing.T) {
	page := string(site.Pages()[site.Root+"links"]())
	for _, want := range []string{
		`<title>What a link does · Waymark</title>`,
		`<a href="/docs/links" aria-current="page">What a link does</a>`,
		`<li><a href="#5-does-it-open-the-app">5. Does it open the app?</a></li>`,
		`<h2 id="5-does-it-open-the-app">5. Does it open the app?<a href="#5-does-it-open-the-app" class="anchor"`,
		`<a rel="prev" href="/docs/recipes">`, `<a rel="next" href="/docs/domains">`,
		`<a href="/docs/domain-settings#web">`, `<div class="scroll" tabindex="0"><table>`, `<a href="/docs/links.md">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page about links does not have %s", want)
		}
	}
	if strings.Count(page, "aria-current") != 1 {
		t.Error("the navigation marks several pages")
	}
	if first := string(site.Pages()[site.Root+"start"]()); strings.Contains(first, `rel="prev"`) {
		t.Error("something is before the first page")
	}
}
