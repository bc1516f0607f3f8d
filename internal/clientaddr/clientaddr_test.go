package clientaddr

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestOf(t *testing.T) {
	trusted := Trusted{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
		proxied   bool
	}{
		{"203.0.113.7:1", nil, "203.0.113.7", false},
		{"203.0.113.7:1", []string{"198.51.100.1"}, "203.0.113.7", false}, // a stranger's word
		{"10.1.2.3:1", nil, "10.1.2.3", true},
		{"10.1.2.3:1", []string{"198.51.100.1"}, "198.51.100.1", true},
		// what is left of the first stranger is invented
		{"10.1.2.3:1", []string{"1.1.1.1, 198.51.100.1, 10.9.9.9"}, "198.51.100.1", true},
		{"10.1.2.3:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1", true},
		{"10.1.2.3:1", []string{"198.51.100.1, nonsense"}, "10.1.2.3", true},
		{"[fd00::1]:1", []string{"[2001:db8::1]:443"}, "2001:db8::1", true},
		{"[::ffff:10.1.2.3]:1", []string{"198.51.100.1:99"}, "198.51.100.1", true},
		{"nonsense", []string{"198.51.100.1"}, "invalid IP", false},
	} {
		got, proxied := trusted.Of(&http.Request{RemoteAddr: c.peer,
			Header: http.Header{"X-Forwarded-For": c.forwarded}})
		if got.String() != c.want || proxied != c.proxied {
			t.Errorf("%s %q: %s, %v; want %s, %v", c.peer, c.forwarded, got, proxied, c.want, c.proxied)
		}
	}
}
