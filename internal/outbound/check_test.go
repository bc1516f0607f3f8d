package outbound_test

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/weburl"
)

var accepted = []string{
	"https://hooks.example.com", "https://hooks.example.com/", "https://hooks.example.com:443/a?b=c&d",
	"HTTPS://hooks.example.com/%20é", "https://xn--bcher-kva.com/", "https://a.b", "https://1.example.com",
	"https://hooks.example.com/" + strings.Repeat("é", weburl.MaxLength-len("https://hooks.example.com/")),
	"https://local.example.com", "https://localhost.example.com",
}

var refused = []string{
	"", "hooks.example.com", "//hooks.example.com", "https:hooks.example.com", "https://", "https:///a",
	"http://hooks.example.com", "ftp://hooks.example.com", "javascript:alert(1)",
	// Ports, users, fragments.
	"https://hooks.example.com:8443/", "https://hooks.example.com:80", "https://hooks.example.com:0443",
	"https://hooks.example.com:", "https://hooks.example.com:99999", "https://hooks.example.com:443:443",
	"https://user@hooks.example.com", "https://user:password@hooks.example.com", "https://@hooks.example.com",
	"https://:@hooks.example.com",
	"https://hooks.example.com/#a", "https://hooks.example.com/#", "https://hooks.example.com#@evil.com",
	// Addresses in every spelling.
	"https://93.184.216.34/", "https://127.0.0.1", "https://127.0.0.1.", "https://127.1", "https://127.0.1",
	"https://0x7f.1",
	"https://0x7f.0x0.0x0.0x1", "https://0x7f000001", "https://127.0.0.0x1", "https://0177.0.0.1", "https://2130706433",
	"https://017700000001", "https://0", "https://0.0.0.0", "https://[::1]", "https://[::1]:443/",
	"https://[::ffff:127.0.0.1]",
	"https://[::]", "https://[fe80::1%25eth0]/", "https://[2606:4700:4700::1111]", "https://[v1.a]", "https://::1",
	"https://169.254.169.254/latest",
	"https://１２７.０.０.１", "https://127。0。0。1", "https://①②⑦.0.0.1", "https://127.0.0.1%2e", "https://%31%32%37.0.0.1",
	"https://127%2e0.0.1",
	"https://256.256.256.256", "https://1.2.3.4.5", "https://a.1", "https://a.0x",
	// Other spellings of names.
	"https://Hooks.example.com", "https://bücher.com", "https://ｈooks.example.com", "https://hooks.example.com.",
	"https://hooks.example.com..",
	"https://hooks。example.com", "https://%68ooks.example.com", "https://b%C3%BCcher.com",
	"https://hooks%00.example.com",
	"https://hooks_1.example.com", "https://-a.example.com", "https://a..example.com", "https://.example.com",
	"https://*.example.com",
	"https://xn--a.example.com", "https://" + strings.Repeat("a", 64) + ".example.com",
	"https://" + strings.Repeat("a.", 127) + "com",
	// Names that are never public.
	"https://localhost", "https://localhost.", "https://LOCALHOST", "https://a.localhost", "https://intranet",
	"https://com",
	"https://printer.local", "https://metadata.google.internal", "https://router.home.arpa",
	"https://1.0.0.127.in-addr.arpa",
	"https://a.onion", "https://a.invalid", "https://a.test", "https://a.example", "https://a.alt",
	// Characters that readers of URLs disagree on.
	"https://hooks.example.com/a b", "https://hooks.example.com/\r\nX: y", " https://hooks.example.com",
	"https://hooks.example.com\t",
	"https://hooks.example.com\\@evil.com", "https://hooks.example.com\x00", "https://hooks.example.com/\x7f",
	"https://hooks.example.com/\u2028", "https://hooks\u200b.example.com",
	"https://hooks.example.com/%zz",
	"https://hooks.example.com/" + strings.Repeat("é", weburl.MaxLength),
}

func TestCheck(t *testing.T) {
	client := outbound.New(outbound.Options{})
	for _, value := range accepted {
		if err := client.Check("/url", value); err != nil {
			t.Errorf("Check(%q) = %v", value, err)
		}
	}
	for _, value := range refused {
		var f *fault.Error
		if err := client.Check("/url", value); !errors.As(err, &f) {
			t.Errorf("Check(%q) = %v", value, err)
		} else if f.Status() != http.StatusUnprocessableEntity || f.Details[0].Path != "/url" ||
			f.Details[0].Code != "invalid_url" {
			t.Errorf("Check(%q) = %+v", value, f)
		}
	}
}

func TestCheckAllowed(t *testing.T) {
	client := outbound.New(outbound.Options{Allow: map[string]netip.AddrPort{
		"receiver": netip.MustParseAddrPort("10.0.0.1:8443"), "hooks.internal": netip.MustParseAddrPort("10.0.0.2:443"),
	}})
	for value, ok := range map[string]bool{
		"https://receiver/a": true, "https://receiver:443/a": true, "https://hooks.internal": true,
		"https://hooks.example.com": true,
		"http://receiver":           false, "https://receiver:8443/": false, "https://u@receiver/": false,
		"https://receiver/#a": false,
		"https://other":       false, "https://a.hooks.internal": false, "https://10.0.0.1": false,
	} {
		if err := client.Check("/url", value); (err == nil) != ok {
			t.Errorf("Check(%q) = %v", value, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, value := range append(accepted, refused...) {
		f.Add(value)
	}
	client := outbound.New(outbound.Options{})
	f.Fuzz(func(t *testing.T, value string) {
		if client.Check("/url", value) != nil {
			return
		}
		u, err := url.Parse(value)
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		host := u.Hostname()
		if u.Scheme != "https" || u.User != nil || u.Fragment != "" || strings.Contains(value, "#") || u.Opaque != "" {
			t.Errorf("%q is %+v", value, u)
		}
		if u.Host != host && u.Host != host+":443" {
			t.Errorf("%q has the host %q", value, u.Host)
		}
		if name, ok := weburl.Hostname(host); !ok || name != host || !strings.Contains(host, ".") {
			t.Errorf("%q has the hostname %q, which is %q", value, host, name)
		}
		if _, err := netip.ParseAddr(host); err == nil {
			t.Errorf("%q is an address", value)
		}
		// A reader that splits at the characters of RFC 3986 sees the same host.
		_, rest, _ := strings.Cut(value, "://")
		if end := strings.IndexAny(rest, "/?"); end >= 0 {
			rest = rest[:end]
		}
		if rest != u.Host {
			t.Errorf("%q: net/url finds the host %q", value, u.Host)
		}
		request, err := http.NewRequest(http.MethodPost, value, nil)
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		if err := request.Write(io.Discard); err != nil {
			t.Errorf("%q cannot be sent: %v", value, err)
		}
	})
}
