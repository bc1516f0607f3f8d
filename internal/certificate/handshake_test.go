package certificate

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mholt/acmez/v3"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestFloodOfUnknownHostnames wants handshakes for hostnames that nobody serves. They make
// no order, and do not touch the database: there is none.
func TestFloodOfUnknownHostnames(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	i := newInstallation(t, db, nil)
	i.DB, i.storage.db = nil, nil
	challenge := func(c *tls.Config) { c.NextProtos = []string{acmez.ACMETLS1Protocol} }
	for n := range 200 {
		hostname := fmt.Sprintf("h%d.unknown.test", n)
		for _, change := range []func(*tls.Config){func(*tls.Config) {}, challenge} {
			if _, err := i.visit(hostname, change); err == nil {
				t.Fatalf("%s has a certificate", hostname)
			}
		}
		r := httptest.NewRequest("GET", "http://"+hostname+challengePath+"token", nil)
		w := httptest.NewRecorder()
		i.Plain().ServeHTTP(w, r)
		if w.Code != http.StatusNotFound || w.Body.Len() != 0 {
			t.Fatalf("%s gets %d %q", hostname, w.Code, w.Body)
		}
	}
	if _, err := i.visit("", func(c *tls.Config) { c.InsecureSkipVerify = true }); err == nil {
		t.Error("a handshake without a hostname is accepted")
	}
	if len(i.flights) != 0 {
		t.Errorf("%d certificates are looked for", len(i.flights))
	}
	i.wantOrders(t, 0)
}

// TestFailingHostname looks once at the database for a flood at a served hostname whose
// certificate cannot be had.
func TestFailingHostname(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	i := newInstallation(t, db, func(_ *installation, o *Options) { o.HTTP = false })
	i.Set(t, "add-a", map[string]any{"host": "away.example", "addresses": []string{"127.0.0.9"}})
	i.failedFor = time.Hour
	for range 20 {
		if _, err := i.visit("away.example"); err == nil {
			t.Fatal("there is a certificate")
		}
		i.DB, i.storage.db = nil, nil // it is not asked again
	}
	i.wantOrders(t, 1)
}

// TestHandshakesBeforeTheDNS visits a hostname before its DNS leads here. That makes no
// order which could fail, so the verification that follows gets the certificate.
func TestHandshakesBeforeTheDNS(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		i := newInstallation(t, db, func(_ *installation, o *Options) {
			o.Own = []string{"own.example"}
			o.MayOrder = func(_ context.Context, hostname string) bool { return hostname == "connected.example" }
		})
		away := map[string]any{"host": "new.example", "addresses": []string{"127.0.0.9"}}
		i.Set(t, "add-a", away)
		if _, err := i.visit("new.example"); err == nil {
			t.Error("there is a certificate")
		}
		i.wantOrders(t, 0)
		i.Set(t, "clear-a", away)
		if err := i.Obtain(t.Context(), "new.example"); err != nil {
			t.Fatal(err)
		}
		i.forget()
		i.mustVisit(t, "new.example")
		i.wantOrders(t, 1)
		i.mustVisit(t, "own.example")
		i.mustVisit(t, "connected.example")
		i.wantOrders(t, 3)
	})
}

// TestTLSSettings refuses what is too old, and goes on with a session at another process.
func TestTLSSettings(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		i := newInstallation(t, db, nil)
		other := i.manager(t, db, nil)
		now := c.Now().Time()
		seeded := i.seed(t, "a.example", now, now.Add(90*day))
		i.Issued.AppendCertsFromPEM(seeded.Chain)
		elsewhere := pebbletest.Listen(t)
		i.serve(t, tls.NewListener(elsewhere, other.TLS()), http.NotFoundHandler())
		renew := func() {
			t.Helper()
			for _, m := range []*Manager{i.Manager, other} {
				if err := m.renewTickets(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		renew()
		old := func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 }
		if _, err := i.visit("a.example", old); err == nil {
			t.Error("TLS 1.1 is accepted")
		}
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			sessions := tls.NewLRUClientSessionCache(1)
			resumes := func(at string) bool {
				t.Helper()
				connection, err := tls.Dial("tcp", at, &tls.Config{ServerName: "a.example", RootCAs: i.Issued,
					MaxVersion: version, ClientSessionCache: sessions})
				if err != nil {
					t.Fatal(err)
				}
				defer connection.Close()
				// Tickets of TLS 1.3 come after the handshake.
				fmt.Fprint(connection, "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
				io.Copy(io.Discard, connection)
				return connection.ConnectionState().DidResume
			}
			if resumes(i.tls.Addr().String()) {
				t.Error("the first session is resumed")
			}
			if !resumes(elsewhere.Addr().String()) {
				t.Error("a session is not resumed at another process")
			}
			c.Move(day)
			renew()
			if !resumes(elsewhere.Addr().String()) {
				t.Error("a session of yesterday is not resumed")
			}
			// Go makes a new ticket only where it resumes by an old key.
			c.Move(3 * day)
			renew()
			if resumes(elsewhere.Addr().String()) {
				t.Error("a session of three days ago is resumed")
			}
		}
		n, err := store.One(t.Context(), db, store.Value[int], "SELECT COUNT(*) FROM session_ticket_key")
		if err != nil || n > 3 {
			t.Errorf("%d keys of session tickets are kept, %v", n, err)
		}
	})
}

// TestPlain sends visitors of served hostnames to https.
func TestPlain(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	m := (&installation{Authority: &pebbletest.Authority{Directory: "https://ca.example"}}).manager(t, db, nil)
	for _, test := range []struct {
		request, host string
		status        int
		location      string
	}{
		{"GET /x?y=%20z", "a.example", 308, "https://a.example/x?y=%20z"},
		{"POST /", "A.Example.:8080", 308, "https://a.example/"},
		{"GET //evil.test/", "a.example", 308, "https://a.example//evil.test/"},
		{"GET http://a.example/x", "evil.test", 308, "https://a.example/x"},
		{"GET http://evil.test/x", "a.example", 404, ""},
		{"GET http:.evil.test/x", "a.example", 400, ""},
		{"GET http:@evil.test/x", "a.example", 400, ""},
		{"OPTIONS *", "a.example", 400, ""},
		{"GET /", "a.unknown", 404, ""},
		{"GET /", "127.0.0.1", 404, ""},
		{"GET " + challengePath + "token", "a.example", 404, ""},
	} {
		text := test.request + " HTTP/1.1\r\nHost: " + test.host + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		m.Plain().ServeHTTP(w, r)
		if w.Code != test.status || w.Header().Get("Location") != test.location || w.Body.Len() != 0 {
			t.Errorf("%s at %s: %d %q", test.request, test.host, w.Code, w.Header().Get("Location"))
		}
	}
}
