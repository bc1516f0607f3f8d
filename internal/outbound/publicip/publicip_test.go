package publicip

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
)

// registry is written down again as first and last addresses: IANA's IPv4
// special-purpose registry, row by row, and multicast.
var registry = []struct{ first, last string }{
	{"0.0.0.0", "0.255.255.255"},
	{"0.0.0.0", "0.0.0.0"},
	{"10.0.0.0", "10.255.255.255"},
	{"100.64.0.0", "100.127.255.255"},
	{"127.0.0.0", "127.255.255.255"},
	{"169.254.0.0", "169.254.255.255"},
	{"172.16.0.0", "172.31.255.255"},
	{"192.0.0.0", "192.0.0.255"},
	{"192.0.0.0", "192.0.0.7"},
	{"192.0.0.8", "192.0.0.8"},
	{"192.0.0.9", "192.0.0.9"},
	{"192.0.0.10", "192.0.0.10"},
	{"192.0.0.170", "192.0.0.171"},
	{"192.0.2.0", "192.0.2.255"},
	{"192.31.196.0", "192.31.196.255"},
	{"192.52.193.0", "192.52.193.255"},
	{"192.88.99.0", "192.88.99.255"},
	{"192.88.99.2", "192.88.99.2"},
	{"192.168.0.0", "192.168.255.255"},
	{"192.175.48.0", "192.175.48.255"},
	{"198.18.0.0", "198.19.255.255"},
	{"198.51.100.0", "198.51.100.255"},
	{"203.0.113.0", "203.0.113.255"},
	{"224.0.0.0", "239.255.255.255"},
	{"240.0.0.0", "255.255.255.255"},
	{"255.255.255.255", "255.255.255.255"},
}

// listed reports whether the registry holds a.
func listed(a netip.Addr) bool {
	for _, r := range registry {
		if !a.Less(netip.MustParseAddr(r.first)) && !netip.MustParseAddr(r.last).Less(a) {
			return true
		}
	}
	return false
}

func TestRegistry(t *testing.T) {
	for _, r := range registry {
		first, last := netip.MustParseAddr(r.first), netip.MustParseAddr(r.last)
		for _, a := range []netip.Addr{first, last} {
			if IPv4(a) {
				t.Errorf("%s is public", a)
			}
		}
		for _, a := range []netip.Addr{first.Prev(), last.Next()} {
			if a.IsValid() && IPv4(a) == listed(a) {
				t.Errorf("%s, next to %s-%s: public is %v", a, first, last, IPv4(a))
			}
		}
	}
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "93.184.216.34": true, "9.255.255.255": true, "11.0.0.0": true,
		"100.63.255.255": true, "100.128.0.0": true, "126.255.255.255": true, "128.0.0.0": true,
		"172.15.255.255": true, "172.32.0.0": true, "192.167.255.255": true, "192.169.0.0": true,
		"198.17.255.255": true, "198.20.0.0": true, "223.255.255.255": true,
		"::": false, "::1": false, "2606:4700:4700::1111": false, "fe80::1%eth0": false, "fd00::1": false,
		"::ffff:1.1.1.1": false, "::ffff:127.0.0.1": false, // mapped
		"::1.1.1.1": false, "2002:101:101::": false, "64:ff9b::1.1.1.1": false, // compatible, 6to4, NAT64
	} {
		if got := IPv4(netip.MustParseAddr(text)); got != want {
			t.Errorf("IPv4(%s) = %v", text, got)
		}
	}
	if IPv4(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestAgreesWithStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	public := 0
	for range 200_000 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], random.Uint32())
		a := netip.AddrFrom4(b)
		special := a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified() ||
			!a.IsGlobalUnicast()
		if IPv4(a) && special {
			t.Errorf("%s is public, but not for net/netip", a)
		}
		if IPv4(a) == listed(a) {
			t.Errorf("%s: public is %v", a, IPv4(a))
		}
		if IPv4(a) {
			public++
		}
	}
	if public < 100_000 {
		t.Errorf("%d of 200000 addresses are public, which are too few", public)
	}
}

// Of each range of the registry neither the first nor the last address is public;
// those next to it are, where they are global unicast.
func TestIPv6(t *testing.T) {
	for _, r := range []struct {
		first, last   string
		before, after bool
	}{
		{"::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, true},
		{"2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", true, true},
		{"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true, true},
		{"2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, true},
		{"2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", true, true},
		{"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", true, true},
		{"4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, false},
	} {
		first, last := netip.MustParseAddr(r.first), netip.MustParseAddr(r.last)
		if IPv6(first) || IPv6(last) {
			t.Errorf("%s-%s is public", first, last)
		}
		if IPv6(first.Prev()) != r.before || IPv6(last.Next()) != r.after {
			t.Errorf("next to %s-%s: public is %v, %v", first, last, IPv6(first.Prev()), IPv6(last.Next()))
		}
	}
	for _, text := range []string{"8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111%eth0"} {
		if IPv6(netip.MustParseAddr(text)) {
			t.Errorf("%s is a public IPv6 address", text)
		}
	}
}
