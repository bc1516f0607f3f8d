package redirect

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// headingOf returns what a notice says in Spanish.
func headingOf(t *testing.T, kind page.Kind) string {
	t.Helper()
	body := string(page.Official(binding.IOS).AppendNotice(nil, &page.Notice{Kind: kind,
		Language: page.Language("es")}))
	heading := regexp.MustCompile("<h1[^>]*>([^<]+)</h1>").FindStringSubmatch(body)
	if heading == nil {
		t.Fatalf("no heading in %s", body)
	}
	return heading[1]
}

func TestNotices(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ended, later := db.Now().Add(-1), db.Now().Add(1e15)
		putTemplate(t, db, binding.Android, "#123456", "A")
		putTemplate(t, db, binding.Recovery, "#765432", "R")
		for name, n := range map[string]struct {
			method, path string
			link         func(*route.Link)
			status       int
			kind         page.Kind
		}{
			"not found":   {"GET", "/unknown", nil, 404, page.NotFound},
			"root":        {"GET", "/", nil, 404, page.NotFound},
			"file":        {"GET", "/.well-known/assetlinks.json", nil, 404, page.NotFound},
			"service":     {"GET", "/_service/other", nil, 404, page.NotFound},
			"gone":        {"GET", "/x", func(l *route.Link) { l.ExpiresAt = &ended }, 410, page.Gone},
			"archived":    {"GET", "/x", func(l *route.Link) { l.Archived = true }, 410, page.Gone},
			"scheduled":   {"GET", "/x", func(l *route.Link) { l.StartsAt = &later }, 404, page.Scheduled},
			"method":      {"POST", "/x", nil, 405, page.BadMethod},
			"unavailable": {"GET", "/away", nil, 503, page.Unavailable},
		} {
			publishApps(t, db, func(h *route.Host) {
				h.Templates = route.Templates{Android: "android@1",
					Recovery: "recovery@1"}
			},
				n.link)
			w := newWorld(t, db, c)
			w.get(request("GET", "app.example", "/robots.txt"))
			for agent, accent := range map[string]string{visitortest.ChromeAndroid: "#123456",
				visitortest.SafariPhone: "#123456",
				visitortest.SafariMac:   "#123456"} {
				if n.status == 503 {
					if _, err := db.Exec(t.Context(), "ALTER TABLE route RENAME TO route_away"); err != nil {
						t.Fatal(err)
					}
				}
				r := w.get(request(n.method, "app.example", n.path, "User-Agent", agent, "Accept-Language", "es"))
				if n.status == 503 {
					if _, err := db.Exec(t.Context(), "ALTER TABLE route_away RENAME TO route"); err != nil {
						t.Fatal(err)
					}
				}
				body := r.Body.String()
				got := readPage(t, r)
				home := []string{"https://shop.example/"}
				if n.status == 503 {
					home = nil
				}
				if r.Code != n.status || got.heading != headingOf(t, n.kind) || got.lang != "es" ||
					got.app != "Shop & Co" ||
					!strings.Contains(body, dot) || !slices.Equal(got.links, home) || got.automatic ||
					!strings.Contains(body, accent) || r.Header().Get("Cache-Control") != "no-store" {
					t.Errorf("%s in %s: %d %+v %v\n%s", name, agent, r.Code, got, r.Header(), body)
				}
			}
			if len(w.clicks) > 0 {
				t.Errorf("%s: clicks %+v", name, w.clicks)
			}
		}
	})
}

// TestLooks chooses the template in whose look notices are shown.
func TestLooks(t *testing.T) {
	for name, c := range map[string]struct {
		templates            route.Templates
		android, ios, others string
	}{
		"none": {route.Templates{}, "android official", "ios official", "ios official"},
		"official": {route.Templates{Android: "official", IOS: "official"}, "android official", "ios official",
			"ios official"},
		"both":    {route.Templates{Android: "a@1", IOS: "i@1"}, "android a@1", "ios i@1", "ios i@1"},
		"Android": {route.Templates{Android: "a@1"}, "android a@1", "android a@1", "android a@1"},
		"iOS":     {route.Templates{IOS: "i@1", Recovery: "r@1"}, "ios i@1", "ios i@1", "ios i@1"},
		"recovery": {route.Templates{Android: "official", Recovery: "r@1"}, "recovery r@1", "recovery r@1",
			"recovery r@1"},
	} {
		for platform, want := range map[route.Platform]string{route.Android: c.android, route.IOS: c.ios,
			route.Desktop: c.others,
			route.Other:   c.others} {
			if base, look := lookOf(&route.Host{Templates: c.templates}, platform); string(base)+" "+look != want {
				t.Errorf("%s on %s: %s %s", name, platform, base, look)
			}
		}
	}
}
