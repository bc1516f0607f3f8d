package redirect

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/visitor"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// nowhere is a ResponseWriter that keeps nothing: what is measured is the
// handler.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header               { return n.header }
func (n nowhere) Write(b []byte) (int, error)       { return len(b), nil }
func (n nowhere) WriteHeader(int)                   {}
func (n nowhere) WriteString(s string) (int, error) { return len(s), nil }

// bare does nothing but write the answer that the handler under test writes.
var bare = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Location", web)
	h.Set("Cache-Control", "private, no-store")
	h.Set("Referrer-Policy", "no-referrer-when-downgrade")
	w.WriteHeader(http.StatusFound)
})

func benchmarked(db *store.DB, write func(*clicklog.Event) error) http.Handler {
	return New(Options{
		Cache: route.NewCache(db, slog.Default()), Append: write, LimitScale: 1e9,
		Unstored: func(string, clock.Instant) bool { return true },
		Salts:    visitor.NewSalts(db, slog.New(slog.DiscardHandler)),
		Visitors: visitor.New(visitor.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			CountryHeader: "X-Country"}),
		Address: func(hostname, prefix, slug string) string {
			return "https://" + hostname + "/" + route.Path(prefix, slug)
		},
		Clock: &clock.Clock{}, Log: slog.New(slog.DiscardHandler),
	})
}

// BenchmarkHandler compares a redirect from memory, with its click, to a
// handler that does nothing but write the same answer.
func BenchmarkHandler(b *testing.B) {
	db, _ := openSQLite(b)
	publish(b, db)
	log, err := clicklog.Open(b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	typical := func(target string) *http.Request {
		r := request("GET", "a.example", target, "User-Agent", visitortest.ChromeWindows, "Referer",
			"https://news.example/article",
			"Sec-Ch-Ua-Platform", `"Windows"`, "Sec-Ch-Ua-Mobile", "?0", "X-Forwarded-For", "198.51.100.1",
			"X-Country",
			"DE",
			"Accept", "text/html", "Accept-Language", "de", "Accept-Encoding", "gzip")
		r.RemoteAddr = "10.0.0.1:1234"
		return r
	}
	for _, c := range []struct {
		name    string
		handler http.Handler
		request *http.Request
	}{
		{"bare", bare, typical("/x")},
		{"without-log", benchmarked(db, func(*clicklog.Event) error { return nil }), typical("/x")},
		{"with-log", benchmarked(db, log.Append), typical("/x")},
		{"with-log-and-query", benchmarked(db, log.Append), typical("/x?fbclid=abcdefghijk&ref=mail")},
		{"not-found", benchmarked(db, log.Append), typical("/unknown")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			w := nowhere{http.Header{}}
			for b.Loop() {
				c.handler.ServeHTTP(w, c.request)
			}
		})
	}
}

// BenchmarkServer is the same through net/http and a kept connection, with a
// client that costs next to nothing.
func BenchmarkServer(b *testing.B) {
	db, _ := openSQLite(b)
	publish(b, db)
	log, err := clicklog.Open(b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	for name, h := range map[string]http.Handler{"bare": bare, "waymark": benchmarked(db, log.Append)} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(h)
			defer server.Close()
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			ask := []byte("GET /x HTTP/1.1\r\nHost: a.example\r\nUser-Agent: " + visitortest.ChromeWindows +
				"\r\nReferer: https://news.example/\r\n\r\n")
			answer := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(ask); err != nil {
					b.Fatal(err)
				}
				if n, err := conn.Read(answer); err != nil || string(answer[9:12]) != "302" {
					b.Fatalf("%s, %v", answer[:n], err)
				}
			}
		})
	}
}

// BenchmarkPage measures, in turns of one run, an answer with a page that opens the
// app, a redirect, and the rendering of the same page alone. A page may cost twice a
// redirect and 60 µs more: what it costs beyond twice a redirect is reported as
// µs-beyond.
func BenchmarkPage(b *testing.B) {
	db, _ := openSQLite(b)
	putTemplate(b, db, binding.Android, "#123456", "In {{city}}")
	publishApps(b, db, func(h *route.Host) { h.Templates.Android = "android@1" }, func(l *route.Link) {
		l.Behavior = route.BehaveIntelligent
	})
	log, err := clicklog.Open(b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	handler := benchmarked(db, log.Append)
	ask := func(agent string) func() {
		r := request("GET", "app.example", "/x?fbclid=abcdefghijk", "User-Agent", agent, "Accept-Language",
			"pt-BR,pt;q=0.9",
			"Accept", "text/html", "Accept-Encoding", "gzip")
		w := nowhere{http.Header{}}
		return func() { handler.ServeHTTP(w, r) }
	}
	template, err := route.NewCache(db, slog.Default()).Template(b.Context(), binding.Android, "android@1", "app")
	if err != nil {
		b.Fatal(err)
	}
	decision := route.Decide(&route.Link{AppID: "app", DesktopURL: web, PlayStoreURL: playStore,
		AppPath: "products/7"},
		&route.Host{AppID: "app", Scheme: "shop", AndroidPackage: "com.example"},
		route.Visit{Platform: route.Android, Query: "fbclid=abcdefghijk", Address: "https://app.example/x"}, 0)
	shown := page.Visit{Language: page.Language("pt"), Nonce: newNonce(), AppName: "Shop & Co", AppLogo: dot,
		Title: "Spring <sale>", Description: "Everything", Data: map[string]string{"city": "Rome"}, Automatic: true,
		OpenURI: decision.App.NativeURI, Fallback: decision.Location, InstallURL: decision.App.InstallURL,
		WebURL: decision.App.WebURL}
	render := func() { template.Append(nil, &shown) }
	paged, redirected := ask(visitortest.ChromeAndroid), ask(visitortest.ChromeWindows)
	var spent [3]time.Duration
	turns := [len(spent)]func(){paged, redirected, render}
	for _, turn := range turns {
		turn() // reads what is not in memory yet
	}
	const each = 100
	b.ReportAllocs()
	n := 0
	for ; b.Loop(); n++ {
		for i, turn := range turns {
			start := time.Now()
			for range each {
				turn()
			}
			spent[i] += time.Since(start)
		}
	}
	µs := func(i int) float64 { return float64(spent[i].Nanoseconds()) / 1000 / float64(n*each) }
	b.ReportMetric(µs(0), "µs/page")
	b.ReportMetric(µs(1), "µs/redirect")
	b.ReportMetric(µs(2), "µs/render")
	b.ReportMetric(µs(0)-2*µs(1), "µs-beyond")
}

// BenchmarkNotice is the answer to an address that no link has, in an owner's look.
func BenchmarkNotice(b *testing.B) {
	db, _ := openSQLite(b)
	putTemplate(b, db, binding.Android, "#123456", "A")
	publishApps(b, db, func(h *route.Host) { h.Templates.Android = "android@1" }, nil)
	handler := benchmarked(db, func(*clicklog.Event) error { return nil })
	r := request("GET", "app.example", "/unknown", "User-Agent", visitortest.ChromeWindows)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(nowhere{http.Header{}}, r)
	}
}
