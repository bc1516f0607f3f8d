package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/netip"
	"slices"

	"github.com/waymarkhq/waymark/internal/outbound/publicip"
)

// ProbeOptions are what a Prober works with.
type ProbeOptions struct {
	// Own are addresses of this installation. They may be probed although they are
	// not public.
	Own []netip.Addr
	// Address is where each probe connects, whatever the addresses of its host are,
	// for networks that do not lead back to themselves; the zero value is none.
	Address netip.AddrPort
	// CA verifies the certificates; nil is the system's roots.
	CA *x509.CertPool
}

// Prober asks hosts over HTTPS who answers there.
type Prober struct{ ProbeOptions }

// Get asks a host, which leads to the given addresses, for a path. It returns the
// head of the answer, whatever its status; a redirect is not followed.
func (p *Prober) Get(ctx context.Context, host, path string, addresses []netip.Addr) (*http.Response, *Failure) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	response, code := p.attempt(ctx, host, path, addresses)
	if code == "" {
		return response, nil
	}
	if isOver(ctx) {
		code = timeout
	}
	return nil, &Failure{code, probeMessages[code]}
}

func (p *Prober) attempt(ctx context.Context, host, path string,
	addresses []netip.Addr) (response *http.Response, code string) {
	request, err := http.NewRequest(http.MethodGet, "https://"+host+path, nil)
	if err != nil {
		return nil, connectionFailed
	}
	request.Header.Set("User-Agent", probeAgent)
	targets, code := p.targets(addresses)
	if code != "" {
		return nil, code
	}
	conn, code := secure(ctx, targets, &tls.Config{ServerName: host, RootCAs: p.CA})
	if code != "" {
		return nil, code
	}
	if response, err = exchange(conn, request); err != nil {
		return nil, connectionFailed
	}
	return response, ""
}

// targets returns where a host with some addresses is reached.
func (p *Prober) targets(addresses []netip.Addr) (targets []netip.AddrPort, code string) {
	if p.Address.IsValid() {
		return []netip.AddrPort{p.Address}, ""
	}
	for _, a := range addresses {
		if !publicip.IPv4(a) && !publicip.IPv6(a) && !slices.Contains(p.Own, a) {
			return nil, dnsBlocked
		}
		targets = append(targets, netip.AddrPortFrom(a, port))
	}
	if len(targets) == 0 {
		return nil, dnsFailed
	}
	return targets, ""
}

// probeAgent names the sender of probes.
const probeAgent = "Waymark-Probe/1"

// probeMessages are fixed, like messages.
var probeMessages = map[string]string{
	timeout:          "The hostname did not answer over HTTPS within 5 seconds.",
	connectionFailed: "No connection to port 443 of the hostname could be made, or its answer was not valid HTTP.",
	tlsFailed: "No TLS connection to the hostname could be made: its certificate is missing, expired or for " +
		"another name.",
	dnsBlocked: "The hostname leads to an address that is not public, where this installation does not ask. Its operator can set " +
		"--probe-address.",
	dnsFailed: "The hostname has no address in the DNS.",
}
