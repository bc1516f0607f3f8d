package redirect

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// card is what a crawler finds in a preview.
type card struct {
	lang, title, link, canonical string
	style, script                string
	meta                         map[string]string
	elements                     map[string]int
}

func parsePage(t *testing.T, r *httptest.ResponseRecorder) card {
	t.Helper()
	root, err := html.Parse(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	p := card{meta: map[string]string{}, elements: map[string]int{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		p.elements[n.Data]++
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		switch n.Data {
		case "html":
			p.lang = attributes["lang"]
		case "title":
			p.title = n.FirstChild.Data
		case "style":
			p.style = n.FirstChild.Data
		case "script":
			p.script = n.FirstChild.Data
		case "link":
			if attributes["rel"] == "canonical" {
				p.canonical = attributes["href"]
			}
		case "a":
			p.link = attributes["href"]
		case "meta":
			name := attributes["property"] + attributes["name"]
			if _, twice := p.meta[name]; twice {
				t.Errorf("%q is there twice", name)
			}
			p.meta[name] = attributes["content"]
		}
	}
	return p
}

func TestPreview(t *testing.T) {
	const image = "https://assets.example/i.png?a=1&b=2"
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		for name, link := range map[string]route.Link{
			"all":    {Title: "A title", Description: "What it is about", ImageURL: image},
			"title":  {Title: "Ünïcödé 🎉", Description: "多种文字"},
			"text":   {Description: "Only a text"},
			"image":  {ImageURL: image},
			"sized":  {Title: "A title", ImageURL: image, ImageWidth: 300, ImageHeight: 157},
			"low":    {Title: "A title", ImageURL: image, ImageWidth: 300, ImageHeight: 156},
			"narrow": {Title: "A title", ImageURL: image, ImageWidth: 299, ImageHeight: 157},
			"hostile": {Title: `</title><script>alert(1)</script>`, Description: `" onload="alert(1)`,
				ImageURL: `https://e.com/"><script>alert(1)</script>`},
			"quotes": {Title: `'"&<>` + "`", Description: "a\nb\x00 --><!--", ImageURL: "javascript:alert('1')"},
		} {
			link.LinkID, link.AppID, link.Prefix, link.Slug, link.DesktopURL = "l", "app", "p", name, web+"?x='\""
			put(t, db, "a.example", link)
			w.clicks = nil
			got := w.get(request("GET", "a.example", "/p/"+name+"?qr=1&a=%22%3E%3Cscript%3E", "User-Agent",
				"Twitterbot/1.0"))
			header := got.Header()
			if got.Code != 200 || header.Get("Content-Type") != "text/html; charset=utf-8" ||
				header.Get("Cache-Control") != "private, no-store" ||
				header.Get("X-Content-Type-Options") != "nosniff" ||
				!strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none';") ||
				header.Get("Location") != "" {
				t.Errorf("%s: %d %v", name, got.Code, header)
			}
			text := got.Body.String()
			p := parsePage(t, got)
			title := link.Title
			if title == "" {
				title = "a.example"
			}
			address := "https://a.example/p/" + name
			want := map[string]string{
				"": "", "viewport": "width=device-width, initial-scale=1", "color-scheme": "light dark",
				"og:site_name": "a.example",
				"og:type":      "website", "og:url": address, "og:title": title, "twitter:title": title,
				"twitter:card": "summary",
			}
			if link.Description != "" {
				shown := strings.ReplaceAll(link.Description, "\x00", "\ufffd")
				want["description"], want["og:description"], want["twitter:description"] = shown, shown, shown
			}
			if link.ImageURL != "" {
				want["og:image"], want["twitter:image"] = link.ImageURL, link.ImageURL
				if name != "low" && name != "narrow" {
					want["twitter:card"] = "summary_large_image"
				}
				if alt := cmp.Or(link.Title, link.Description); alt != "" {
					want["og:image:alt"], want["twitter:image:alt"] = alt, alt
				}
			}
			if link.ImageWidth > 0 {
				want["og:image:width"], want["og:image:height"] = fmt.Sprint(link.ImageWidth),
					fmt.Sprint(link.ImageHeight)
			}
			if p.lang != "en" || p.canonical != address || p.title != title || !maps.Equal(p.meta, want) {
				t.Errorf("%s: title %q, %q\nwant %q, %q", name, p.title, p.meta, title, want)
			}
			if wantLink := web + "?x='%22&a=%22%3E%3Cscript%3E"; strings.ReplaceAll(p.link, "%27", "'") != wantLink {
				t.Errorf("%s: leads to %q, want %q", name, p.link, wantLink)
			}
			delete(p.elements, "meta")
			paragraphs := 2
			if link.Description != "" {
				paragraphs++
			}
			if !maps.Equal(p.elements, map[string]int{"html": 1, "head": 1, "title": 1, "link": 1, "style": 1,
				"body": 1, "main": 1, "h1": 1, "p": paragraphs, "a": 1, "script": 1}) {
				t.Errorf("%s: elements %v in\n%s", name, p.elements, text)
			}
			// A person is sent on by the page's own script; nothing else runs,
			// and no refresh leads crawlers to the destination's card.
			policy := header.Get("Content-Security-Policy")
			if p.script != string(previewScript) || !strings.Contains(policy, "script-src "+hashSource(p.script)+";") ||
				!strings.Contains(policy, "style-src "+hashSource(p.style)+";") {
				t.Errorf("%s: the policy %q does not allow what is in the page:\n%s", name, policy, text)
			}
			if strings.Contains(strings.ToLower(text), "http-equiv") || header.Get("Refresh") != "" {
				t.Errorf("%s: crawlers are sent on: %v\n%s", name, header, text)
			}
			if len(w.clicks) != 1 || w.clicks[0].Device != "bot" || w.clicks[0].Destination != "page" ||
				w.clicks[0].Source != "qr" || w.clicks[0].Limited {
				t.Errorf("%s: %+v", name, w.clicks)
			}
			// By HEAD the same without a body, and nobody has seen it.
			head := w.get(request("HEAD", "a.example", "/p/"+name+"?qr=1&a=%22%3E%3Cscript%3E", "User-Agent",
				"Twitterbot/1.0"))
			if head.Code != 200 || head.Body.Len() > 0 || head.Header().
				Get("Content-Length") != header.Get("Content-Length") || len(w.clicks) != 1 {
				t.Errorf("%s by HEAD: %d %v", name, head.Code, head.Header())
			}
		}
		if n := counted(t, w.registry, "waymark_redirect_requests_total", "preview"); n != 18 {
			t.Errorf("counted %v previews", n)
		}
	})
}

// TestPreviewOrNot asks as every program for what has a preview and what has
// none.
func TestPreviewOrNot(t *testing.T) {
	db, c := openSQLite(t)
	publish(t, db)
	w := newWorld(t, db, c)
	for _, agents := range [][]string{visitortest.Previewers, visitortest.Searchers, {visitortest.SafariMac, ""}} {
		preview := agents[0] == visitortest.Previewers[0]
		for _, agent := range agents {
			for target, want := range map[string]int{"/ruled": 302, "/x": 302, "/past": 410, "/archived": 410,
				"/future": 404, "/unknown": 404, "/over": 302, "/titled": 302} {
				if target == "/ruled" && preview {
					want = 200
				}
				if got := w.get(request("GET", "a.example", target, "User-Agent", agent)); got.Code != want {
					t.Errorf("%s as %s: %d, want %d", target, agent, got.Code, want)
				}
			}
		}
	}
	// The page tells where the crawler itself would be sent.
	r := request("GET", "a.example", "/ruled", "User-Agent", "Twitterbot/1.0", "X-Country", "DE")
	r.RemoteAddr = "10.0.0.1:1"
	if p := parsePage(t, w.get(r)); p.link != "https://example.de/?a=1" {
		t.Errorf("leads to %q", p.link)
	}
	if e := w.clicks[len(w.clicks)-1]; e.RuleID != "de" || e.Country != "DE" {
		t.Errorf("%+v", e)
	}
}

// put publishes one link.
func put(t *testing.T, db *store.DB, hostname string, link route.Link) {
	t.Helper()
	err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		p, err := route.Lock(t.Context(), tx)
		if err != nil {
			return err
		}
		return p.PutLinks(t.Context(), []route.LinkRoute{{Hostname: hostname, Path: route.Path(link.Prefix, link.Slug),
			Revision: "r", Link: link}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkPreview(b *testing.B) {
	db, c := openSQLite(b)
	publish(b, db)
	w := newWorld(b, db, c)
	r := request("GET", "a.example", "/ruled", "User-Agent", "Twitterbot/1.0")
	b.ReportAllocs()
	for b.Loop() {
		w.clicks = w.clicks[:0]
		w.ServeHTTP(nowhere{http.Header{}}, r)
	}
}
