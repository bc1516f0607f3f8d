package redirect

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/text"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

const (
	playStore  = "https://play.google.com/store/apps/details?id=com.example"
	appStore   = "https://apps.apple.com/app/id42"
	dot        = "data:image/png;base64,iVBORw0KGgo="
	inFacebook = visitortest.SafariPhone + " [FBAN/FBIOS;FBAV/488.0]"
)

// publishApps puts hosts of an app that links can open, and a link that opens it.
func publishApps(t testing.TB, db *store.DB, changeHost func(*route.Host), changeLink func(*route.Link)) {
	t.Helper()
	ctx := t.Context()
	host := route.Host{DomainID: "d", AppID: "app", AppName: "Shop & Co", AppLogo: dot,
		HomeURL: "https://shop.example/",
		Scheme:  "shop", AndroidPackage: "com.example"}
	link := route.Link{LinkID: "l", AppID: "app", Slug: "x", DesktopURL: web, PlayStoreURL: playStore,
		AppStoreURL: appStore,
		Title:       "Spring <sale>", Description: "Everything", AppPath: "products/7", Parameters: `{"a":1}`,
		Data: `{"city":"Rome"}`}
	if changeHost != nil {
		changeHost(&host)
	}
	if changeLink != nil {
		changeLink(&link)
	}
	if err := db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		p, err := route.Lock(ctx, tx)
		if err != nil {
			return err
		}
		if err := p.PutHost(ctx, "app.example", "r", host); err != nil {
			return err
		}
		return p.PutLinks(ctx, []route.LinkRoute{{Hostname: "app.example", Path: link.Slug, Revision: "r",
			Link: link}})
	}); err != nil {
		t.Fatal(err)
	}
}

// putTemplate publishes version 1 of a template with an accent and a heading.
func putTemplate(t testing.TB, db *store.DB, base binding.Base, accent, heading string) {
	t.Helper()
	config := page.Config{
		Appearance: opt.OptOf(page.Appearance{Light: opt.OptOf(page.Palette{Accent: opt.OptOf(accent)})}),
		Content:    opt.OptOf(page.Content{Heading: opt.OptOf(text.Line(heading))}),
		Variables:  opt.OptOf([]page.Variable{{Key: "city"}}),
	}
	if err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		return route.PutTemplate(t.Context(), tx, string(base), 1, route.TemplateVersion{AppID: "app", Base: base,
			Config: config})
	}); err != nil {
		t.Fatal(err)
	}
}

// shownPage is what a visitor finds in a page of package page.
type shownPage struct {
	lang, heading, text, app, banner string
	links                            []string
	// automatic is set when the page runs the script that opens the app.
	automatic bool
}

// readPage reads a page and fails unless its policy allows its style and script by a
// nonce, and nothing else is in it.
func readPage(t *testing.T, r *httptest.ResponseRecorder) (p shownPage) {
	t.Helper()
	body, header := r.Body.String(), r.Header()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	nonce := regexp.MustCompile(`style-src 'nonce-([A-Za-z0-9_-]{22})'`).FindStringSubmatch(
		header.Get("Content-Security-Policy"))
	if nonce == nil || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none';") ||
		header.Get("X-Content-Type-Options") != "nosniff" ||
		header.Get("Content-Type") != "text/html; charset=utf-8" ||
		header.Get("Referrer-Policy") != "no-referrer" || header.Get("Location") != "" {
		t.Fatalf("headers %v", header)
	}
	words := func(n *html.Node) (s string) {
		for n := range n.Descendants() {
			if n.Type == html.TextNode {
				s += n.Data
			}
		}
		return s
	}
	for n := range root.Descendants() {
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		switch n.Data {
		case "html":
			p.lang = attributes["lang"]
		case "h1":
			p.heading = words(n)
		case "header":
			p.app = strings.TrimSpace(words(n))
		case "a":
			p.links = append(p.links, attributes["href"])
		case "p":
			if attributes["class"] == "text" {
				p.text = words(n)
			}
		case "meta":
			if attributes["name"] == "apple-itunes-app" {
				p.banner = attributes["content"]
			}
		case "style", "script":
			p.automatic = p.automatic || n.Data == "script"
			if attributes["nonce"] != nonce[1] || !strings.Contains(header.Get("Content-Security-Policy"),
				n.Data+"-src 'nonce-"+nonce[1]+"'") {
				t.Errorf("the policy %v does not allow <%s nonce=%s>", header, n.Data, attributes["nonce"])
			}
		}
	}
	return p
}

func TestAppPage(t *testing.T) {
	const native = "products/7?a=1&waymark_link=https%3A%2F%2Fapp.example%2Fx%3Fq%3D1"
	const intent = "intent://" + native + "#Intent;scheme=shop;action=android.intent.action.VIEW;category=" +
		"android.intent.category.BROWSABLE;package=com.example;S.browser_fallback_url=https%3A%2F%2Fplay.google.com" +
		"%2Fstore%2Fapps%2Fdetails%3Fid%3Dcom.example%26q%3D1;end"
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		for behavior, automatic := range map[route.Behavior][3]bool{
			route.BehaveManual: {false, false, false}, route.BehaveAutomatic: {true, true, true},
			route.BehaveIntelligent: {true, true, false},
		} {
			publishApps(t, db, nil, func(l *route.Link) { l.Behavior = behavior })
			w := newWorld(t, db, c)
			for i, agent := range []string{visitortest.ChromeAndroid, visitortest.SafariPhone, inFacebook} {
				ask := func(method string) *http.Request {
					return request(method, "app.example", "/x?qr=1&q=1", "User-Agent", agent, "Accept-Language",
						"pt-PT,pt;q=0.9")
				}
				w.clicks = nil
				r := w.get(ask("GET"))
				length := r.Header().Get("Content-Length")
				if r.Code != 200 || r.Header().Get("Cache-Control") != "private, no-store" {
					t.Errorf("%s in %s: %d %v", behavior, agent, r.Code, r.Header())
				}
				got := readPage(t, r)
				want := shownPage{lang: "pt", heading: "Spring <sale>", text: "Everything", app: "Shop & Co",
					automatic: automatic[i], links: []string{intent, playStore + "&q=1", web + "?q=1"}}
				if i > 0 {
					want.banner = "app-id=42, app-argument=https://app.example/x?q=1"
					want.links = []string{"shop://" + native, appStore + "?q=1", web + "?q=1"}
				}
				if !slices.Equal(got.links, want.links) || got.automatic != want.automatic || got.lang != want.lang ||
					got.heading != want.heading || got.text != want.text || got.app != want.app ||
					got.banner != want.banner {
					t.Errorf("%s in %s:\ngot  %+v\nwant %+v", behavior, agent, got, want)
				}
				destination := map[bool]string{true: "app", false: "page"}[automatic[i]]
				source := "qr"
				if len(w.clicks) != 1 || w.clicks[0].Destination != destination || w.clicks[0].Source != source {
					t.Errorf("%s in %s: clicks %+v", behavior, agent, w.clicks)
				}
				// By HEAD the same without a body, and nobody has seen it.
				head := w.get(ask("HEAD"))
				if head.Code != 200 || head.Body.Len() > 0 || head.Header().Get("Content-Length") != length ||
					len(w.clicks) != 1 {
					t.Errorf("%s by HEAD in %s: %d %v, %d clicks", behavior, agent, head.Code, head.Header(),
						len(w.clicks))
				}
			}
			if n := counted(t, w.registry, "waymark_redirect_requests_total", "page"); n != 6 {
				t.Errorf("counted %v pages", n)
			}
			// Everybody else is sent on.
			for agent, want := range map[string]string{visitortest.SafariMac: web, "": web, "curl/8.10.1": web,
				visitortest.ChromeAndroid +
					" (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": playStore} {
				if r := w.get(request("GET", "app.example", "/x", "User-Agent", agent)); r.Code != 302 ||
					r.Header().Get("Location") != want {
					t.Errorf("%s: %d %v", agent, r.Code, r.Header())
				}
			}
		}
	})
}

// TestAppPageOfRecovery leads to the store by way of the address that makes a token.
func TestAppPageOfRecovery(t *testing.T) {
	db, c := openSQLite(t)
	publishApps(t, db, func(h *route.Host) { h.Recovery = &route.Recovery{TokenTTLSeconds: 600, ByToken: true} }, nil)
	w := newWorld(t, db, c)
	for _, agent := range []string{visitortest.ChromeAndroid, visitortest.SafariPhone} {
		got := readPage(t, w.get(request("GET", "app.example", "/x?q=1", "User-Agent", agent)))
		if len(got.links) != 3 || got.links[1] != "https://app.example/_service/install/x?q=1" {
			t.Errorf("%s: %q", agent, got.links)
		}
	}
}

// TestAppPageTemplates looks for the template of the link, of the host and the
// official one; one that cannot be had turns no visitor away.
func TestAppPageTemplates(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		putTemplate(t, db, binding.Android, "#123456", "In {{city}}, on Android")
		putTemplate(t, db, binding.IOS, "#654321", "In {{city}}, on iOS")
		heading := func(w *world, agent string) string {
			r := w.get(request("GET", "app.example", "/x", "User-Agent", agent))
			if r.Code != 200 {
				t.Fatalf("%s: %d %s", agent, r.Code, r.Body)
			}
			return readPage(t, r).heading
		}
		for name, c2 := range map[string]struct {
			link, host   route.Templates
			android, ios string
		}{
			"none": {android: "Spring <sale>", ios: "Spring <sale>"},
			"the host's": {host: route.Templates{Android: "android@1", IOS: "ios@1"},
				android: "In Rome, on Android", ios: "In Rome, on iOS"},
			"the link's": {link: route.Templates{IOS: "ios@1"}, host: route.Templates{IOS: "ios@9"},
				android: "Spring <sale>", ios: "In Rome, on iOS"},
			"official": {link: route.Templates{IOS: "official"}, host: route.Templates{IOS: "ios@1"},
				android: "Spring <sale>", ios: "Spring <sale>"},
			"unknown": {link: route.Templates{Android: "android@2", IOS: "gone@1"}, android: "Spring <sale>",
				ios: "Spring <sale>"},
			"for the other": {link: route.Templates{Android: "ios@1", IOS: "android@1"}, android: "Spring <sale>",
				ios: "Spring <sale>"},
		} {
			publishApps(t, db, func(h *route.Host) { h.Templates = c2.host },
				func(l *route.Link) { l.Templates = c2.link })
			w := newWorld(t, db, c)
			if got := heading(w, visitortest.ChromeAndroid); got != c2.android {
				t.Errorf("%s on Android: %q", name, got)
			}
			if got := heading(w, visitortest.SafariPhone); got != c2.ios {
				t.Errorf("%s on iOS: %q", name, got)
			}
		}
		publishApps(t, db, func(h *route.Host) { h.Templates.IOS, h.Templates.Android = "ios@1", "android@1" }, nil)
		w := newWorld(t, db, c)
		heading(w, visitortest.SafariPhone)
		if _, err := db.Exec(t.Context(), "ALTER TABLE route_template RENAME TO route_template_away"); err != nil {
			t.Fatal(err)
		}
		if got := heading(w, visitortest.SafariPhone); got != "In Rome, on iOS" {
			t.Errorf("a template in memory, with the database away: %q", got)
		}
		if got := heading(w, visitortest.ChromeAndroid); got != "Spring <sale>" {
			t.Errorf("another template, with the database away: %q", got)
		}
	})
}

// TestAppPageLimited counts pages against the limit of a link like redirects.
func TestAppPageLimited(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		limit := int64(permitted)
		publishApps(t, db, nil, func(l *route.Link) { l.MaxClicks = &limit })
		w := newWorld(t, db, c)
		ask := func(method string) int {
			return w.get(request(method, "app.example", "/x", "User-Agent", visitortest.SafariPhone)).Code
		}
		for i := range permitted {
			if ask("HEAD") != 200 || ask("GET") != 200 {
				t.Fatalf("page %d is not shown", i)
			}
		}
		if got := ask("GET"); got != 410 || len(w.clicks) != permitted || !w.clicks[0].Limited {
			t.Errorf("after the last click: %d, %+v", got, w.clicks)
		}
	})
}

// TestPreviewLanguage has the few words of a preview in the language of the request.
func TestPreviewLanguage(t *testing.T) {
	db, c := openSQLite(t)
	publish(t, db)
	w := newWorld(t, db, c)
	for accept, want := range map[string]string{"pt-BR,pt;q=0.9": "pt", "": "en", "es": "es", "xx": "en"} {
		r := request("GET", "a.example", "/ruled", "User-Agent", "Twitterbot/1.0")
		if accept != "" {
			r.Header.Set("Accept-Language", accept)
		}
		body := w.get(r).Body.String()
		if !strings.Contains(body, `<html lang="`+want+`"`) ||
			!strings.Contains(body, ">"+page.ContinueTo(page.Language(want), "example.com")+"</a>") {
			t.Errorf("%q: %s", accept, body)
		}
	}
}
