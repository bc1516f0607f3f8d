// Package publicip tells public addresses from those that lead into the
// network one runs in, or nowhere.
package publicip

import "net/netip"

// special holds IANA's whole registry of special-purpose IPv4 addresses (RFC
// 6890 and later) and multicast. The few ranges of it that are reachable serve
// DNS and relays: no receiver lives there, so they are no exception.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("10.0.0.0/8"),      // private
	netip.MustParsePrefix("100.64.0.0/10"),   // shared by carriers
	netip.MustParsePrefix("127.0.0.0/8"),     // loopback
	netip.MustParsePrefix("169.254.0.0/16"),  // link-local, metadata of clouds
	netip.MustParsePrefix("172.16.0.0/12"),   // private
	netip.MustParsePrefix("192.0.0.0/24"),    // protocols; some are anycast
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.31.196.0/24"), // AS112, a sink for private DNS
	netip.MustParsePrefix("192.52.193.0/24"), // AMT, relays for multicast
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays, abandoned
	netip.MustParsePrefix("192.168.0.0/16"),  // private
	netip.MustParsePrefix("192.175.48.0/24"), // AS112, delegated
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("224.0.0.0/4"),     // multicast
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
}

// IPv4 reports whether a is an IPv4 address of one host that the whole internet
// can reach. No IPv6 address is, whatever IPv4 address it carries.
func IPv4(a netip.Addr) bool {
	if !a.Is4() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// special6 holds the rows of IANA's registry of special-purpose IPv6 addresses that
// lie within the global unicast addresses 2000::/3.
var special6 = []netip.Prefix{
	netip.MustParsePrefix("2001::/23"),         // protocols, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"),     // documentation
	netip.MustParsePrefix("2002::/16"),         // 6to4, which carries any IPv4 address
	netip.MustParsePrefix("2620:4f:8000::/48"), // AS112, a sink for private DNS
	netip.MustParsePrefix("3fff::/20"),         // documentation
}

var globalUnicast = netip.MustParsePrefix("2000::/3")

// IPv6 reports whether a is an IPv6 address of one host that the whole internet can
// reach.
func IPv6(a netip.Addr) bool {
	// An address with a zone is in no prefix.
	if !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range special6 {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
