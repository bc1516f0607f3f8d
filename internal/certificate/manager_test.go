package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// installation is a manager with its listeners and its authority.
type installation struct {
	*Manager
	*pebbletest.Authority
	plain, tls net.Listener
}

// newInstallation starts an installation that serves every hostname below "example".
func newInstallation(t testing.TB, db *store.DB, change func(*installation, *Options)) *installation {
	t.Helper()
	return newInstallationWith(t, db, pebbletest.Settings{}, change)
}

func newInstallationWith(t testing.TB, db *store.DB, s pebbletest.Settings,
	change func(*installation, *Options)) *installation {
	t.Helper()
	i := &installation{plain: pebbletest.Listen(t), tls: pebbletest.Listen(t)}
	i.Authority = pebbletest.Start(t, pebbletest.PortOf(i.plain), pebbletest.PortOf(i.tls), s)
	i.Manager = i.manager(t, db, change)
	i.serve(t, i.plain, i.Plain())
	i.serve(t, tls.NewListener(i.tls, i.TLS()), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto)
	}))
	return i
}

// manager returns a further manager of an installation.
func (i *installation) manager(t testing.TB, db *store.DB, change func(*installation, *Options)) *Manager {
	t.Helper()
	o := Options{DB: db, Log: slog.New(slog.DiscardHandler), Directory: i.Authority.Directory,
		Roots: i.Authority.Roots, HTTP: true,
		Serves: func(hostname string) bool { return strings.HasSuffix(hostname, ".example") }}
	if change != nil {
		change(i, &o)
	}
	m := New(o)
	t.Cleanup(m.Close)
	return m
}

// serve answers with h until the test ends. A panic fails the test.
func (i *installation) serve(t testing.TB, l net.Listener, h http.Handler) {
	s := &http.Server{Handler: h, ErrorLog: log.New(panics{t}, "", 0)}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
}

type panics struct{ testing.TB }

func (p panics) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "panic") {
		p.Errorf("%s", line)
	}
	return len(line), nil
}

// visit makes a handshake and returns the state of its connection.
func (i *installation) visit(hostname string, change ...func(*tls.Config)) (tls.ConnectionState, error) {
	settings := &tls.Config{ServerName: hostname, RootCAs: i.Issued, NextProtos: []string{"h2", "http/1.1"}}
	for _, c := range change {
		c(settings)
	}
	c, err := tls.Dial("tcp", i.tls.Addr().String(), settings)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer c.Close()
	return c.ConnectionState(), nil
}

func (i *installation) mustVisit(t testing.TB, hostname string) tls.ConnectionState {
	t.Helper()
	state, err := i.visit(hostname)
	if err != nil {
		t.Fatalf("visit %s: %v", hostname, err)
	}
	return state
}

func (i *installation) wantOrders(t testing.TB, want int64) {
	t.Helper()
	if n := i.Orders.Load(); n != want {
		t.Errorf("%d orders, want %d", n, want)
	}
}

func realTime(c *clock.Clock) { c.Set((&clock.Clock{}).Now()) }

// TestManyCertificates wants a hundred certificates at once, of an authority that rejects
// every second nonce: each takes one order.
func TestManyCertificates(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	i := newInstallation(t, db, nil)
	var obtaining sync.WaitGroup
	for n := range 100 {
		obtaining.Go(func() {
			if err := i.Obtain(t.Context(), fmt.Sprintf("host%d.example", n)); err != nil {
				t.Error(err)
			}
		})
	}
	obtaining.Wait()
	for n := range 100 {
		hostname := fmt.Sprintf("host%d.example", n)
		if names := i.mustVisit(t, hostname).PeerCertificates[0].DNSNames; len(names) != 1 || names[0] != hostname {
			t.Errorf("certificate of %s names %q", hostname, names)
		}
	}
	i.wantOrders(t, 100)
	status, err := ReadStatus(t.Context(), db, db.Now())
	if err != nil || status.Valid != 100 || status.Failing != 0 {
		t.Error(status, err)
	}
}

// TestVisit has a certificate issued by the first visit, and proves the name in each of
// the two ways.
func TestVisit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		for _, plain := range []bool{true, false} {
			i := newInstallation(t, db, func(_ *installation, o *Options) { o.HTTP = plain })
			hostname := fmt.Sprintf("plain-%t.example", plain)
			if err := i.Obtain(context.Background(), hostname); err != nil {
				t.Fatal(err)
			}
			if state := i.mustVisit(t, strings.ToUpper(hostname)); state.NegotiatedProtocol != "h2" {
				t.Errorf("negotiated %q", state.NegotiatedProtocol)
			}
			i.wantOrders(t, 1)
		}
	})
}
