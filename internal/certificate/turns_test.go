package certificate

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestVisitsLeaveTurns has more handshakes order than may at once, none of which ends. A
// verification is not kept waiting.
func TestVisitsLeaveTurns(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	i := newInstallation(t, db, nil)
	release := make(chan struct{})
	defer close(release)
	stall := func(r *http.Request) {
		if r.URL.Path == "/order-plz" && strings.Contains(pebbletest.Payload(r), "visited") {
			<-release
		}
	}
	i.Before.Store(&stall)
	for n := range ordersAtOnce {
		i.fly(wish{fmt.Sprintf("visited%d.example", n), visit})
	}
	storetest.Eventually(t, "handshakes order", func() bool {
		return len(i.issuer.visits) == visitsAtOnce && locked(t, db) == ordersAtOnce
	})
	if n := len(i.issuer.slots); n > visitsAtOnce {
		t.Errorf("handshakes make %d orders at once", n)
	}
	if err := i.Obtain(t.Context(), "verified.example"); err != nil {
		t.Error(err)
	}
}

// TestWaitForATurn gives an order all its time after the wait for its turn.
func TestWaitForATurn(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	i := newInstallation(t, db, nil)
	i.issuer.orderFor = time.Nanosecond // no order is made within it
	for range ordersAtOnce {
		i.issuer.slots <- struct{}{}
	}
	f := i.fly(wish{"a.example", verification})
	storetest.Eventually(t, "an order waits", func() bool { return locked(t, db) == 1 })
	<-i.issuer.slots
	<-f.done
	if f.err == nil || !strings.Contains(f.err.Error(), "certificate.order(") {
		t.Errorf("the order was not begun: %v", f.err)
	}
}

// TestSlowOCSP loads a certificate while the OCSP of more than may be read at once stalls.
func TestSlowOCSP(t *testing.T) {
	m, now := benchManager(t), time.Now()
	reached, release := make(chan struct{}, loadsAtOnce), make(chan struct{})
	ocsp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached <- struct{}{}
		<-release
	}))
	t.Cleanup(ocsp.Close)
	defer close(release)
	for n := range loadsAtOnce {
		name := fmt.Sprintf("slow%d.example", n)
		m.seed(t, name, now, now.Add(90*day), func(c *x509.Certificate) {
			c.OCSPServer, c.IssuingCertificateURL = []string{ocsp.URL}, []string{ocsp.URL}
		})
		m.fly(wish{name, visit})
	}
	for range loadsAtOnce {
		<-reached
	}
	m.seed(t, "quick.example", now, now.Add(90*day))
	f := m.fly(wish{"quick.example", visit})
	storetest.Eventually(t, "another certificate is loaded", func() bool {
		select {
		case <-f.done:
			return true
		default:
			return false
		}
	})
	if f.err != nil {
		t.Error(f.err)
	}
}

// locked counts the locks that are held.
func locked(t *testing.T, db *store.DB) int {
	t.Helper()
	n, err := store.One(t.Context(), db, store.Value[int], "SELECT COUNT(*) FROM certificate_lock")
	if err != nil {
		t.Fatal(err)
	}
	return n
}
