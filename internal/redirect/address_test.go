package redirect

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestCleanPath(t *testing.T) {
	for target, want := range map[string]string{
		"/":                                "",
		"/x":                               "x",
		"/p/x":                             "p/x",
		"/a/b/c":                           "a/b/c",
		"/caf%C3%A9":                       "café",
		"/cafe%CC%81":                      "café",
		"/%E4%BD%A0/%E5%A5BD":              "!",
		"/%78":                             "x",
		"/a.b~c_d-e":                       "a.b~c_d-e",
		"/...":                             "...",
		"/%2578":                           "%78", // decoded once
		"//":                               "!",
		"//x":                              "!",
		"/x/":                              "!",
		"/p//x":                            "!",
		"/../x":                            "!",
		"/p/./x":                           "!",
		"/%2e%2e/x":                        "!",
		"/p%2Fx":                           "!",
		"/p%2fx":                           "!",
		"/%00":                             "!",
		"/x%0d%0ay":                        "!",
		"/a%5Cb":                           "!",
		"/%FF":                             "!",
		"/%C3":                             "!",
		"/" + strings.Repeat("x", maxPath): "!",
	} {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := cleanPath(u)
		if !ok {
			got = "!"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

func TestCleanHost(t *testing.T) {
	for host, want := range map[string]string{
		"a.example":                       "a.example",
		"A.Example:8081":                  "a.example",
		"a.example.":                      "a.example",
		"a.example.:443":                  "a.example",
		"localhost":                       "localhost",
		"xn--caf-dma.example":             "xn--caf-dma.example",
		"a_b.example":                     "a_b.example",
		"1.2.3.example":                   "1.2.3.example",
		"":                                "!",
		".":                               "!",
		"..":                              "!",
		".a.example":                      "!",
		"a..example":                      "!",
		"a.example..":                     "!",
		"127.0.0.1":                       "!",
		"127.0.0.1:8081":                  "!",
		"[::1]:8081":                      "!",
		"::1":                             "!",
		"café.example":                    "!",
		"a b.example":                     "!",
		"a.example/x":                     "!",
		"a@b.example":                     "!",
		strings.Repeat("a.", 130) + "com": "!",
	} {
		got, ok := cleanHost(host)
		if !ok {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

// FuzzAddress checks that what is accepted is in the one form that routes
// have.
func FuzzAddress(f *testing.F) {
	f.Add("/p/x", "a.example:80")
	f.Add("/cafe%CC%81/%2e", "A.EXAMPLE.")
	f.Add("/%00//..", "[::1]")
	f.Fuzz(func(t *testing.T, target, host string) {
		if hostname, ok := cleanHost(host); ok {
			if again, ok := cleanHost(hostname); !ok || again != hostname || strings.ToLower(hostname) != hostname || strings.ContainsAny(hostname, ":/@ ") {
				t.Errorf("%q became %q", host, hostname)
			}
		}
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		path, ok := cleanPath(u)
		if !ok || path == "" {
			return
		}
		if !utf8.ValidString(path) || !norm.NFC.IsNormalString(path) || strings.ContainsAny(path, "\x00\r\n\\") || strings.HasSuffix(path, "/") {
			t.Errorf("%q became %q", target, path)
		}
		for part := range strings.SplitSeq(path, "/") {
			if part == "" || part == "." || part == ".." {
				t.Errorf("%q became %q", target, path)
			}
		}
	})
}

func TestClient(t *testing.T) {
	h := &Handler{Options: Options{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		CountryHeader:  "X-Country",
	}}
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
		trusted   bool
	}{
		"direct":                     {"192.0.2.1:5", nil, "192.0.2.1", false},
		"direct, with a tale":        {"192.0.2.1:5", []string{"198.51.100.1"}, "192.0.2.1", false},
		"one proxy":                  {"10.0.0.1:5", []string{"198.51.100.1"}, "198.51.100.1", true},
		"one proxy, and a tale":      {"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1", true},
		"two proxies":                {"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.1, 10.2.2.2"}, "198.51.100.1", true},
		"two headers":                {"10.0.0.1:5", []string{"203.0.113.9, 198.51.100.1", "10.2.2.2"}, "198.51.100.1", true},
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
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got, trusted := h.TrustedProxies.Of(r); got.String() != c.want || trusted != c.trusted {
			t.Errorf("%s: got %s, %v", name, got, trusted)
		}
	}
	for value, want := range map[string]string{"DE": "DE", "de": "DE", "": "ZZ", "XX": "ZZ", "T1": "ZZ", "DEU": "ZZ", "é": "ZZ"} {
		header := http.Header{"X-Country": {value}}
		if got := h.locate(&client{trusted: true}, header); got != want {
			t.Errorf("country %q: %s", value, got)
		}
		if got := h.locate(&client{}, header); got != "ZZ" {
			t.Errorf("country %q of anyone: %s", value, got)
		}
	}
	if got := h.locate(&client{trusted: true}, http.Header{"X-Country": {"DE", "FR"}}); got != "ZZ" {
		t.Errorf("two countries: %s", got)
	}
}

func TestReferrerHost(t *testing.T) {
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
		if got := referrerHost(http.Header{"Referer": {referrer}}); got != want {
			t.Errorf("%q: %q", referrer, got)
		}
	}
	if got := referrerHost(http.Header{}); got != "" {
		t.Errorf("no header: %q", got)
	}
}
