package redirect

import (
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

// FuzzCleanPath checks that what is accepted is in the one form that routes
// have.
func FuzzCleanPath(f *testing.F) {
	f.Add("/p/x")
	f.Add("/cafe%CC%81/%2e")
	f.Add("/%00//..")
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		path, ok := cleanPath(u)
		if !ok || path == "" {
			return
		}
		if !utf8.ValidString(path) || !norm.NFC.IsNormalString(path) || strings.ContainsAny(path, "\x00\r\n\\") ||
			strings.HasSuffix(path, "/") {
			t.Errorf("%q became %q", target, path)
		}
		for part := range strings.SplitSeq(path, "/") {
			if part == "" || part == "." || part == ".." {
				t.Errorf("%q became %q", target, path)
			}
		}
	})
}
