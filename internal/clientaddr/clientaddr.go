// Package clientaddr tells whose request it is behind proxies: an address is
// believed only from those that the operator trusts.
package clientaddr

import (
	"net/http"
	"net/netip"
	"strings"
)

// Trusted are the networks of the proxies that are believed.
type Trusted []netip.Prefix

// Of returns the client's address, the zero Addr when it cannot be told, and
// whether the peer is a trusted proxy. X-Forwarded-For is walked from its end,
// where the nearest proxy wrote, for as long as the writer is trusted:
// everything further left may be the client's own invention.
func (t Trusted) Of(r *http.Request) (address netip.Addr, proxied bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	address = plain(peer.Addr())
	if !t.Contain(address) {
		return address, false
	}
	lines := r.Header["X-Forwarded-For"]
	for i := len(lines) - 1; i >= 0; i-- {
		for rest := lines[i]; rest != ""; {
			var entry string
			if j := strings.LastIndexByte(rest, ','); j >= 0 {
				rest, entry = rest[:j], rest[j+1:]
			} else {
				rest, entry = "", rest
			}
			hop, ok := parseHop(strings.Trim(entry, " \t"))
			if !ok {
				return address, true
			}
			if address = hop; !t.Contain(address) {
				return address, true
			}
		}
	}
	return address, true
}

// parseHop reads an address that may have brackets and a port.
func parseHop(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return plain(a), true
	}
	if a, err := netip.ParseAddrPort(s); err == nil {
		return plain(a.Addr()), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return plain(a), err == nil
	}
	return netip.Addr{}, false
}

// plain makes an address comparable: an IPv4 one in IPv6 form is IPv4.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Network returns the address of what a client has to itself, by which it is counted: its
// address, with IPv6 that of its whole /64.
func Network(a netip.Addr) netip.Addr {
	a = plain(a)
	if a.Is6() {
		network, _ := a.Prefix(64)
		return network.Addr()
	}
	return a
}

// Contain reports whether a, which is no IPv4 address in IPv6 form, is a trusted proxy.
func (t Trusted) Contain(a netip.Addr) bool {
	for _, p := range t {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
