package visitor

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressAndCountry(t *testing.T) {
	visitors := New(Options{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		CountryHeader:  "x-country",
	})
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
		trusted   bool
	}{
		"direct":                {"192.0.2.1:5", nil, "192.0.2.1", false},
		"direct, with a tale":   {"192.0.2.1:5", []string{"198.51.100.1"}, "192.0.2.1", false},
		"one proxy":             {"10.0.0.1:5", []string{"198.51.100.1"}, "198.51.100.1", true},
		"one proxy, and a tale": {"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1", true},
		"two proxies": {"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.1, 10.2.2.2"}, "198.51.100.1",
			true},
		"two headers": {"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.1", "10.2.2.2"}, "198.51.100.1",
			true},
		"nothing but proxies":        {"10.0.0.1:5", []string{"10.3.3.3,10.2.2.2"}, "10.3.3.3", true},
		"no header":                  {"10.0.0.1:5", nil, "10.0.0.1", true},
		"empty header":               {"10.0.0.1:5", []string{""}, "10.0.0.1", true},
		"rubbish":                    {"10.0.0.1:5", []string{"198.51.100.1, unknown, 10.2.2.2"}, "10.2.2.2", true},
		"with a port":                {"10.0.0.1:5", []string{"198.51.100.1:80"}, "198.51.100.1", true},
		"IPv6":                       {"[fd00::1]:5", []string{"2001:db8::1"}, "2001:db8::1", true},
		"IPv6 with brackets":         {"[fd00::1]:5", []string{"[2001:db8::1]"}, "2001:db8::1", true},
		"IPv6 with a port":           {"[fd00::1]:5", []string{"[2001:db8::1]:80"}, "2001:db8::1", true},
		"IPv4 in the form of IPv6":   {"[::ffff:10.0.0.1]:5", []string{"::ffff:198.51.100.1"}, "198.51.100.1", true},
		"a peer that is not TCP":     {"@", []string{"198.51.100.1"}, "invalid IP", false},
		"IPv6 zones are nobody else": {"[fe80::1%eth0]:5", nil, "fe80::1", false},
	} {
		v := visitors.Of(&http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}})
		if got := v.Address(); got.String() != c.want || v.trusted != c.trusted {
			t.Errorf("%s: got %s, %v", name, got, v.trusted)
		}
	}
	country := func(peer string, told ...string) string {
		v := visitors.Of(&http.Request{RemoteAddr: peer, Header: http.Header{"X-Country": told}})
		return v.Country()
	}
	for value, want := range map[string]string{"DE": "DE", "de": "DE", "": "ZZ", "XX": "ZZ", "T1": "ZZ", "DEU": "ZZ",
		"é": "ZZ"} {
		if got := country("10.0.0.1:5", value); got != want {
			t.Errorf("country %q: %s", value, got)
		}
		if got := country("192.0.2.1:5", value); got != "ZZ" {
			t.Errorf("country %q of anyone: %s", value, got)
		}
	}
	if got := country("10.0.0.1:5", "DE", "FR"); got != "ZZ" {
		t.Errorf("two countries: %s", got)
	}
}

func TestReferrer(t *testing.T) {
	visitors := New(Options{})
	of := func(header http.Header) string {
		v := visitors.Of(&http.Request{Header: header})
		return v.Referrer()
	}
	for referrer, want := range map[string]string{
		"https://Example.COM/secret?q=1":             "example.com",
		"http://example.com:8080":                    "example.com",
		"https://user:pw@example.com/":               "example.com",
		"https://example.com?x=@y":                   "example.com",
		"android-app://com.google.android.gm/":       "com.google.android.gm",
		"https://192.0.2.1/":                         "",
		"https://[::1]/":                             "",
		"about:blank":                                "",
		"javascript://example.com":                   "",
		"":                                           "",
		"https://":                                   "",
		"https://" + strings.Repeat("a", 300) + ".a": "",
		"https://<script>/":                          "",
	} {
		if got := of(http.Header{"Referer": {referrer}}); got != want {
			t.Errorf("%q: %q", referrer, got)
		}
	}
	if got := of(http.Header{}); got != "" {
		t.Errorf("no header: %q", got)
	}
}
