package outbound_test

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"testing"

	"github.com/waymarkhq/waymark/internal/outbound"
)

// prober returns a prober that connects to the receiver of some options.
func prober(o outbound.Options) *outbound.Prober {
	return &outbound.Prober{ProbeOptions: outbound.ProbeOptions{Address: o.Allow["hooks.example.com"], CA: o.CA}}
}

func TestProbe(t *testing.T) {
	hits := make(chan *http.Request, 10)
	o := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		hits <- r
		w.Header().Set("Location", "https://elsewhere.example.com/")
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusFound)
	})
	response, failure := prober(o).Get(t.Context(), "hooks.example.com", "/a", nil)
	if failure != nil || response.StatusCode != http.StatusFound || response.Header.Get("X-Answer") != "yes" {
		t.Fatalf("%v, %v", response, failure)
	}
	r := <-hits
	if r.Host != "hooks.example.com" || r.TLS.ServerName != "hooks.example.com" || r.Method != "GET" ||
		r.URL.Path != "/a" || r.UserAgent() != "Waymark-Probe/1" {
		t.Errorf("the probe is %s %s %s of %s", r.Method, r.Host, r.URL, r.UserAgent())
	}
	if len(hits) > 0 {
		t.Error("the redirect was followed")
	}
	// The certificate must be the hostname's, and of a known authority.
	if _, failure := prober(o).Get(t.Context(), "hooks.example.org", "/", nil); failure == nil ||
		failure.Code != "tls_failed" {
		t.Errorf("a certificate of another name: %v", failure)
	}
	o.CA = x509.NewCertPool()
	if _, failure := prober(o).Get(t.Context(), "hooks.example.com", "/", nil); failure == nil ||
		failure.Code != "tls_failed" {
		t.Errorf("a certificate of an unknown authority: %v", failure)
	}
}

// Only public addresses are probed, and those of the installation.
func TestProbedAddresses(t *testing.T) {
	own := netip.MustParseAddr("127.0.0.93")
	p := outbound.Prober{ProbeOptions: outbound.ProbeOptions{Own: []netip.Addr{own}}}
	for code, all := range map[string][][]netip.Addr{
		"dns_failed": {nil},
		"dns_blocked": {{netip.MustParseAddr("127.0.0.94")}, {own, netip.MustParseAddr("10.0.0.1")},
			{netip.MustParseAddr("::1")}, {netip.MustParseAddr("fe80::1%lo")},
			{netip.MustParseAddr("::ffff:127.0.0.93")}, {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("192.0.2.1")}},
		// Nobody listens on its port 443, which was asked therefore.
		"connection_failed": {{own}, {own, own}},
	} {
		for _, addresses := range all {
			if _, failure := p.Get(t.Context(), "hooks.example.com", "/", addresses); failure == nil ||
				failure.Code != code || failure.Message == "" {
				t.Errorf("%v: %v, want %s", addresses, failure, code)
			}
		}
	}
}

func TestSilentHost(t *testing.T) {
	t.Parallel()
	p := outbound.Prober{ProbeOptions: outbound.ProbeOptions{
		Address: netip.MustParseAddrPort(listen(t, drain).String())}}
	if _, failure := p.Get(t.Context(), "hooks.example.com", "/", nil); failure == nil || failure.Code != "timeout" {
		t.Errorf("%v", failure)
	}
}
