package weburl

import (
	"strings"
	"testing"
)

func TestAuthorityHost(t *testing.T) {
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
		"a.example:":                      "a.example",
		"a.example:80a":                   "!",
		"a.example:b.example":             "!",
		"a.example:80:80":                 "!",
		"a.example:+80":                   "!",
		strings.Repeat("a.", 130) + "com": "!",
	} {
		got, ok := AuthorityHost(host)
		if !ok {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

// FuzzAuthorityHost checks that what is accepted is in the one form that stored
// hostnames have.
func FuzzAuthorityHost(f *testing.F) {
	f.Add("a.example:80")
	f.Add("A.EXAMPLE.")
	f.Add("[::1]")
	f.Fuzz(func(t *testing.T, host string) {
		if hostname, ok := AuthorityHost(host); ok {
			if again, ok := AuthorityHost(hostname); !ok || again != hostname ||
				strings.ToLower(hostname) != hostname || strings.ContainsAny(hostname, ":/@ ") {
				t.Errorf("%q became %q", host, hostname)
			}
		}
	})
}
