package redirect

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

const web = "https://example.com/page"

// permitted is how many clicks the limited links have.
const permitted = 3

// world is a handler on a database with routes.
type world struct {
	*Handler
	registry *prometheus.Registry

	mu       sync.Mutex
	clicks   []clicklog.Event
	unstored map[string]int64 // by app
	days     []clock.Instant  // of what is unstored
	full     bool             // what Unstored answers
	broken   error            // what Append answers
	starting bool             // clicks of an earlier process are not counted yet
}

func newWorld(t testing.TB, db *store.DB, c *clock.Clock) *world {
	w := &world{registry: prometheus.NewRegistry(), unstored: map[string]int64{}}
	cache := route.NewCache(db, slog.New(slog.DiscardHandler))
	w.Handler = New(Options{
		Cache: cache,
		DB:    db, LimitScale: 1,
		Append: func(e *clicklog.Event) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.broken == nil {
				w.clicks = append(w.clicks, *e)
			}
			return w.broken
		},
		Unstored: func(appID string, at clock.Instant) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			if !w.full {
				w.unstored[appID]++
				w.days = append(w.days, at)
			}
			return !w.full
		},
		Ready:  func() bool { return true },
		Clicks: clickcount.New(db, func() bool { return w.starting }, slog.New(slog.DiscardHandler)),
		Address: func(hostname, prefix, slug string) string {
			return "https://" + hostname + "/" + route.Path(prefix, slug)
		},
		Salts: visitor.NewSalts(db, slog.New(slog.DiscardHandler)),
		Visitors: visitor.New(visitor.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			CountryHeader: "x-country"}),
		Clock:   c,
		Log:     slog.New(slog.DiscardHandler),
		Metrics: w.registry,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { cache.Follow(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	storetest.Eventually(t, "the cache is ready", cache.Ready)
	return w
}

// publish puts the routes that the tests ask for.
func publish(t testing.TB, db *store.DB) {
	t.Helper()
	ctx := t.Context()
	limit := int64(permitted)
	past, future := db.Now().Add(-time.Hour), db.Now().Add(time.Hour)
	err := db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		p, err := route.Lock(ctx, tx)
		if err != nil {
			return err
		}
		hosts := map[string]route.Host{
			"a.example": {DomainID: "a", AppID: "app", RootURL: "https://example.com/root"},
			"b.example": {DomainID: "b", AppID: "app", NoIndex: true, RedirectStatus: 307,
				NotFoundURL: "https://example.com/lost", AppleAppSiteAssociation: `{"applinks":{}}`, AssetLinks: "[]"},
		}
		for hostname, host := range hosts {
			if err := p.PutHost(ctx, hostname, "r", host); err != nil {
				return err
			}
			links := []route.Link{
				{Slug: "x", DesktopURL: web, PlayStoreURL: "https://play.google.com/a",
					AppStoreURL: "https://apps.apple.com/a", Group: "main", CampaignID: "c", FolderID: "f",
					TagIDs: []string{"t"}},
				{Prefix: "p", Slug: "é", DesktopURL: web},
				{Slug: "archived", DesktopURL: web, Archived: true},
				{Slug: "future", DesktopURL: web, StartsAt: &future},
				{Slug: "past", DesktopURL: web, ExpiresAt: &past},
				{Slug: "over", DesktopURL: web, ExpiresAt: &past, ExpiredURL: "https://example.com/over"},
				{Slug: "limited", DesktopURL: web, MaxClicks: &limit, Description: "Limited"},
				{Slug: "voucher", DesktopURL: web, MaxClicks: &limit, ExpiredURL: "https://example.com/over"},
				{Slug: "titled", DesktopURL: web, Title: "A title alone"},
				{Slug: "ruled", DesktopURL: web, Description: "Ruled", Rules: []route.Rule{
					{ID: "de", Country: "DE", URL: "https://example.de/?a=1"},
					{ID: "phone", Platform: route.IOS, URL: "https://example.com/phone"},
				}},
			}
			for _, link := range links {
				link.LinkID, link.AppID = hostname+":"+link.Slug, "app"
				if err := p.PutLinks(ctx, []route.LinkRoute{{Hostname: hostname,
					Path: route.Path(link.Prefix, link.Slug), Revision: "r", Link: link}}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func request(method, host, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func (w *world) get(r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, r)
	return recorder
}

// counted returns a counter's value as it is scraped.
func counted(t *testing.T, registry *prometheus.Registry, name, outcome string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := metric.GetLabel()
			if family.GetName() == name && (len(labels) == 0 || labels[0].GetValue() == outcome) {
				return metric.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("there is no %s of %q", name, outcome)
	return 0
}

func TestAnswers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		for _, c := range []struct {
			method, host, target string
			status               int
			location             string
			clicks               int
		}{
			{"GET", "a.example", "/x", 302, web, 1},
			{"GET", "A.Example.:8081", "/x", 302, web, 1},
			{"GET", "b.example", "/x", 307, web, 1},
			{"HEAD", "a.example", "/x", 302, web, 0},
			{"GET", "a.example", "/p/%C3%A9?a=1", 302, web + "?a=1", 1},
			{"GET", "a.example", "/p/e%CC%81", 302, web, 1},
			{"GET", "a.example", "/x?qr=1", 302, web, 1},
			{"GET", "a.example", "/x?qr=1&a=1&qr=2", 302, web + "?a=1&qr=2", 1},
			{"GET", "a.example", "/ruled?qr=1", 302, web, 1},
			{"GET", "a.example", "/X", 404, "", 0},
			{"GET", "a.example", "/x/", 404, "", 0},
			{"GET", "a.example", "//x", 404, "", 0},
			{"GET", "a.example", "/p%2F%C3%A9", 404, "", 0},
			{"GET", "a.example", "/p/../x", 404, "", 0},
			{"GET", "a.example", "/%00", 404, "", 0},
			{"GET", "a.example", "/archived", 410, "", 0},
			{"GET", "a.example", "/future", 404, "", 0},
			{"GET", "a.example", "/past", 410, "", 0},
			{"GET", "a.example", "/over?a=1", 302, "https://example.com/over", 0},
			{"GET", "a.example", "/", 302, "https://example.com/root", 0},
			{"GET", "b.example", "/", 404, "", 0},
			{"GET", "b.example", "/unknown", 302, "https://example.com/lost", 0},
			{"HEAD", "b.example", "/unknown", 302, "https://example.com/lost", 0},
			{"GET", "b.example", "/x/", 302, "https://example.com/lost", 0},
			{"GET", "b.example", "/%00", 302, "https://example.com/lost", 0},
			{"GET", "unknown.example", "/x", 404, "", 0},
			{"GET", "unknown.example", "/", 404, "", 0},
			{"GET", "127.0.0.1", "/x", 404, "", 0},
			{"GET", "", "/x", 404, "", 0},
			{"POST", "a.example", "/x", 405, "", 0},
			{"OPTIONS", "a.example", "/x", 405, "", 0},
			{"GET", "a.example", "/_service/health", 200, "", 0},
			{"GET", "unknown.example", "/_service/health", 200, "", 0},
			{"HEAD", "127.0.0.1:8081", "/_service/health", 200, "", 0},
			{"POST", "a.example", "/_service/health", 405, "", 0},
			{"GET", "a.example", "/_service/other", 404, "", 0},
			{"GET", "b.example", "/_service", 404, "", 0},
			{"GET", "b.example", "/.well-known", 404, "", 0},
			{"GET", "b.example", "/.well-known/other", 404, "", 0},
			{"GET", "b.example", "/.well-known/assetlinks.json", 200, "", 0},
			{"HEAD", "b.example", "/.well-known/assetlinks.json?x", 200, "", 0},
			{"GET", "b.example", "/.well-known/apple-app-site-association", 200, "", 0},
			{"POST", "b.example", "/.well-known/apple-app-site-association", 405, "", 0},
			{"GET", "b.example", "/apple-app-site-association", 302, "https://example.com/lost", 0},
			{"GET", "a.example", "/.well-known/assetlinks.json", 404, "", 0},
			{"GET", "a.example", "/.well-known/apple-app-site-association", 404, "", 0},
			{"GET", "a.example", "/favicon.ico", 204, "", 0},
			{"GET", "a.example", "/robots.txt", 200, "", 0},
			{"HEAD", "a.example", "/robots.txt", 200, "", 0},
		} {
			w.clicks = nil
			got := w.get(request(c.method, c.host, c.target))
			if got.Code != c.status || got.Header().Get("Location") != c.location || len(w.clicks) != c.clicks {
				t.Errorf("%s %q %s: %d, %q, %d clicks", c.method, c.host, c.target, got.Code, got.Header().
					Get("Location"), len(w.clicks))
			}
			if c.location != "" && got.Header().Get("Cache-Control") != "private, no-store" {
				t.Errorf("%s %s: cached as %q", c.host, c.target, got.Header().Get("Cache-Control"))
			}
			if (c.method == "HEAD" || c.location != "") && got.Body.Len() > 0 {
				t.Errorf("%s %s: a body of %d bytes", c.method, c.target, got.Body.Len())
			}
			if (c.status == 405) != (got.Header().Get("Allow") == "GET, HEAD") {
				t.Errorf("%s: Allow %q", c.method, got.Header().Get("Allow"))
			}
		}
		for address, want := range map[string]string{
			"a.example/robots.txt":                             "User-agent: *\nDisallow:\n",
			"b.example/robots.txt":                             "User-agent: *\nDisallow: /\n",
			"b.example/.well-known/apple-app-site-association": `{"applinks":{}}`,
			"b.example/.well-known/assetlinks.json":            "[]",
		} {
			host, path, _ := strings.Cut(address, "/")
			got := w.get(request("GET", host, "/"+path))
			if got.Body.String() != want || got.Header().Get("Cache-Control") != "public, max-age=300" {
				t.Errorf("%s: %q %v", address, got.Body, got.Header())
			}
			if json := strings.HasPrefix(path, ".well-known"); json !=
				(got.Header().Get("Content-Type") == "application/json") {
				t.Errorf("%s: %v", address, got.Header())
			}
		}
		if n := counted(t, w.registry, "waymark_redirect_requests_total", "gone"); n != 2 {
			t.Errorf("counted %v of 410", n)
		}
	})
}

// A hostname that is not of this installation gets no content, whatever is asked.
func TestNothingOnUnknownHosts(t *testing.T) {
	db, c := openSQLite(t)
	publish(t, db)
	w := newWorld(t, db, c)
	for _, host := range []string{"unknown.example", "x.a.example", "127.0.0.1", "127.0.0.1:8081", "[::1]:80", "",
		"a.example:b", "a.example@b", "a_b.example"} {
		for _, path := range []string{"/", "/x", "/robots.txt", "/favicon.ico", "/.well-known/assetlinks.json",
			"/.well-known/acme-challenge/x", "/_service", "/_service/health/", "//x"} {
			for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
				got := w.get(request(method, host, path))
				if got.Code != 404 || got.Body.Len() > 0 || got.Header().Get("Content-Length") != "0" ||
					got.Header().Get("Content-Type") != "" || got.Header().Get("Cache-Control") != "no-store" {
					t.Errorf("%s %q %s: %d %v %q", method, host, path, got.Code, got.Header(), got.Body)
				}
			}
		}
	}
	if len(w.clicks) > 0 {
		t.Errorf("%d clicks", len(w.clicks))
	}
}

func TestClick(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		r := request("GET", "A.example:80", "/x?qr=1", "User-Agent", visitortest.SafariPhone, "Referer",
			"https://News.example/secret",
			"X-Forwarded-For", "198.51.100.1", "X-Country", "DE")
		r.RemoteAddr = "10.0.0.1:1234"
		if got := w.get(r).Header().Get("Location"); got != "https://apps.apple.com/a" {
			t.Errorf("sent to %q", got)
		}
		want := clicklog.Event{
			At: c.Now(), Type: clicklog.Click,
			Link: clicklog.Link{ID: "a.example:x", AppID: "app", Hostname: "a.example", Slug: "x", Group: "main",
				CampaignID: "c", FolderID: "f", TagIDs: []string{"t"}},
			Visitor: w.Salts.Hash(c.Now(), netip.MustParseAddr("198.51.100.1"), visitortest.SafariPhone),
			Device:  "ios", OS: "iOS", Browser: "Safari", Source: "qr", Country: "DE", ReferrerHost: "news.example",
			Destination: "store",
		}
		if len(w.clicks) != 1 || !reflect.DeepEqual(w.clicks[0], want) {
			t.Fatalf("got  %+v\nwant %+v", w.clicks, want)
		}
		// The same without the proxy: nothing that the visitor says of itself
		// is believed.
		r.RemoteAddr = "203.0.113.1:1234"
		w.get(r)
		if e := w.clicks[1]; e.Country != "ZZ" || e.Visitor == want.Visitor {
			t.Errorf("got %+v", e)
		}
		w.get(request("GET", "a.example", "/x", "User-Agent", "Twitterbot/1.0"))
		if e := w.clicks[2]; e.Device != "bot" || e.Destination != "web" {
			t.Errorf("got %+v", e)
		}
	})
}

func TestLostClicks(t *testing.T) {
	db, c := openSQLite(t)
	publish(t, db)
	w := newWorld(t, db, c)
	var lines strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&lines, nil))
	health := func() string { return w.get(request("GET", "a.example", "/_service/health")).Body.String() }
	w.broken = errors.New("disk full")
	for range 20 {
		if got := w.get(request("GET", "a.example", "/x")); got.Code != 302 {
			t.Fatalf("status %d", got.Code)
		}
	}
	if n := counted(t, w.registry, "waymark_redirect_clicks_lost_total", ""); n != 20 {
		t.Errorf("%v clicks were counted as lost", n)
	}
	if n := strings.Count(lines.String(), "\n"); n == 0 || n >= 20 {
		t.Errorf("%d lines in the log", n)
	}
	if got := health(); got != `{"status":"degraded"}` {
		t.Errorf("health %s", got)
	}
	w.broken = nil
	w.get(request("GET", "a.example", "/x"))
	if got := health(); got != `{"status":"ok"}` {
		t.Errorf("health %s", got)
	}
}

func TestDatabaseAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		w.get(request("GET", "a.example", "/x"))
		for _, table := range []string{"route", "route_change"} {
			if _, err := db.Exec(t.Context(), "ALTER TABLE "+table+" RENAME TO "+table+"_away"); err != nil {
				t.Fatal(err)
			}
		}
		for target, want := range map[string]int{"/x": 302, "/": 302, "/past": 503} {
			got := w.get(request("GET", "a.example", target))
			if got.Code != want || (want == 503) != (got.Header().Get("Retry-After") != "") {
				t.Errorf("%s: %d %v", target, got.Code, got.Header())
			}
		}
		if got := w.get(request("GET", "b.example", "/robots.txt")); got.Code != 503 {
			t.Errorf("robots: %d", got.Code)
		}
	})
}

func TestHealthUnready(t *testing.T) {
	_, c := openSQLite(t)
	h := New(Options{Ready: func() bool { return false }, Clock: c, Log: slog.Default()})
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request("GET", "a.example", "/_service/health"))
	if recorder.Code != 503 || recorder.Body.String() != `{"status":"unavailable"}` {
		t.Errorf("%d %s", recorder.Code, recorder.Body)
	}
}

// TestServer asks a real server, for what net/http adds or refuses.
func TestServer(t *testing.T) {
	db, c := openSQLite(t)
	publish(t, db)
	server := httptest.NewServer(newWorld(t, db, c))
	defer server.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, method := range []string{"GET", "HEAD"} {
		for path, want := range map[string]int{"/x?a=%0d%0aSet-Cookie:b": 302, "/unknown": 404, "/favicon.ico": 204} {
			r, err := http.NewRequest(method, server.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = "a.example"
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want || response.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s %s: %d %v", method, path, response.StatusCode, response.Header)
			}
		}
	}
}

func openSQLite(t testing.TB) (*store.DB, *clock.Clock) {
	c := &clock.Clock{}
	c.Set(storetest.Start)
	return storetest.Open(t, storetest.Address(t, "sqlite"), c), c
}
