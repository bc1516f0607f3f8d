package redirect

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
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
		Cache: route.NewCache(db, slog.Default()), Append: write,
		Salts: visitor.NewSalts(db, slog.New(slog.DiscardHandler)),
		Visitors: visitor.New(visitor.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			CountryHeader: "X-Country"}),
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
			"Sec-Ch-Ua-Platform", `"Windows"`, "Sec-Ch-Ua-Mobile", "?0", "X-Forwarded-For", "198.51.100.1", "X-Country",
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
