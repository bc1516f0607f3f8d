package weburl

import (
	"net/url"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/fault"
)

func TestCheckHTTPS(t *testing.T) {
	for value, ok := range map[string]bool{
		"https://example.com":                true,
		"HTTPS://example.com/a?b=c#d":        true,
		"https://bücher.example/é":           true,
		"https://example.com:8443/":          true,
		"https://[2001:db8::1]/":             true,
		"http://example.com":                 false,
		"https://":                           false,
		"https://:443/":                      false,
		"https://user@example.com":           false,
		"https://user:pass@example.com":      false,
		"https:example.com":                  false,
		"//example.com":                      false,
		"javascript:alert(1)":                false,
		"https://example.com/\r\nX: y":       false,
		"https://example.com/a b":            false,
		"https://example.com\\@evil.example": false,
		"https://example.com/\u2028":         false,
		"https://exa%mple.com/":              false,
		"":                                   false,
		"https://x.example:65535/":           true,
		"https://x.example:65536/":           false,
		"https://x.example:1/":               true,
		"https://x.example:0/":               false,
		"https://x..example/":                false,
		"https://x.example\u200b/":           false,
		"https://-/":                         false,
	} {
		if err := CheckHTTPS("/x", &value); (err == nil) != ok {
			t.Errorf("CheckHTTPS(%q) = %v", value, err)
		}
	}
	// A refusal tells what to do.
	for value, want := range map[string]string{
		"https://x.example:65536/": "the port must be a number from 1 to 65535",
		"http://x.example/":        "the URL must start with https://",
		"https:///page":            "the URL must have a host, as in https://example.com/page",
	} {
		refusal, _ := fault.From(CheckHTTPS("/x", &value))
		if len(refusal.Details) != 1 || refusal.Details[0].Message != want {
			t.Errorf("CheckHTTPS(%q) says %v, want %q", value, refusal.Details, want)
		}
	}
	if err := CheckHTTPS("/x", nil); err != nil {
		t.Errorf("null: %v", err)
	}
}

func TestASCIIHost(t *testing.T) {
	for value, want := range map[string]string{
		"https://bücher.example/é?ü=1#x": "https://xn--bcher-kva.example/é?ü=1#x",
		"https://bücher.example:8443":    "https://xn--bcher-kva.example:8443",
		"https://EXAMPLE.com?x":          "https://example.com?x",
		"https://192.0.2.1/a":            "https://192.0.2.1/a",
		"https://[2001:db8::1]:8443/a":   "https://[2001:db8::1]:8443/a",
	} {
		if got := ASCIIHost(value); got != want {
			t.Errorf("ASCIIHost(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestHostname(t *testing.T) {
	for value, want := range map[string]string{
		"example.com":                           "example.com",
		"EXAMPLE.com.":                          "example.com",
		"bücher.example":                        "xn--bcher-kva.example",
		"faß.example":                           "xn--fa-hia.example",
		"xn--bcher-kva.example":                 "xn--bcher-kva.example",
		"localhost":                             "localhost",
		"a..b":                                  "",
		"-a.example":                            "",
		"a_b.example":                           "",
		"127.0.0.1":                             "",
		"1.2.3":                                 "",
		"example.com:80":                        "",
		"exa mple.com":                          "",
		"":                                      "",
		strings.Repeat("a", 64) + ".example":    "",
		strings.Repeat("a.", 127) + "a.example": "",
	} {
		got, ok := Hostname(value)
		if got != want || ok != (want != "") {
			t.Errorf("Hostname(%q) = %q, %v; want %q", value, got, ok, want)
		}
	}
}

func FuzzHostname(f *testing.F) {
	f.Add("bücher.example")
	f.Add("a.b")
	f.Fuzz(func(t *testing.T, value string) {
		host, ok := Hostname(value)
		if !ok {
			return
		}
		if again, ok := Hostname(host); !ok || again != host {
			t.Errorf("Hostname(%q) = %q is not stable: %q, %v", value, host, again, ok)
		}
		if u, err := url.Parse("https://" + host + "/"); err != nil || u.Hostname() != host {
			t.Errorf("%q is no host of a URL: %v", host, err)
		}
	})
}
