package outbound

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"github.com/waymarkhq/waymark/internal/outbound/publicip"
)

// port of every destination that is not allowed by name.
const port = 443

// maxDials is how many of a host's addresses are tried, so that a host of many
// does not make this one a scanner.
const maxDials = 3

// connect returns a connection to host that lasts as long as ctx, or the code
// of a failure.
func (c *Client) connect(ctx context.Context, host string) (conn net.Conn, code string) {
	config := &tls.Config{ServerName: host, ClientSessionCache: c.sessions}
	var targets []netip.AddrPort
	if address, ok := c.options.Allow[host]; ok {
		targets, config.RootCAs = []netip.AddrPort{address}, c.options.CA
	} else if targets, code = c.resolve(ctx, host); code != "" {
		return nil, code
	}
	return secure(ctx, targets, config)
}

// secure returns a TLS connection to one of the targets that lasts as long as ctx,
// or the code of a failure.
func secure(ctx context.Context, targets []netip.AddrPort, config *tls.Config) (conn net.Conn, code string) {
	raw, err := dial(ctx, targets)
	if err != nil {
		return nil, connectionFailed
	}
	// The end of the attempt frees whoever still waits. It closes the raw
	// connection: closing TLS would wait for the peer to accept its last
	// message.
	context.AfterFunc(ctx, func() { raw.Close() })
	client := tls.Client(raw, config)
	if client.Handshake() != nil {
		return nil, tlsFailed
	}
	return client, ""
}

// resolve asks for the addresses of host, all of which must be public.
func (c *Client) resolve(ctx context.Context, host string) (targets []netip.AddrPort, code string) {
	found, err := c.resolver.LookupNetIP(ctx, "ip4", host+".") // the dot: no search domains
	if err != nil || len(found) == 0 {
		return nil, dnsFailed
	}
	for _, address := range found {
		address = address.Unmap() // the resolver's form of IPv4 varies
		if !publicip.IPv4(address) {
			return nil, dnsBlocked
		}
		targets = append(targets, netip.AddrPortFrom(address, port))
	}
	return targets, ""
}

// dial connects to the first target that lets it.
func dial(ctx context.Context, targets []netip.AddrPort) (conn net.Conn, err error) {
	deadline, _ := ctx.Deadline()
	targets = targets[:min(len(targets), maxDials)]
	for i, target := range targets {
		// A silent address must leave time for those after it.
		d := net.Dialer{Timeout: time.Until(deadline) / time.Duration(len(targets)-i)}
		if conn, err = d.DialContext(ctx, "tcp", target.String()); err == nil {
			break
		}
	}
	return conn, err
}
