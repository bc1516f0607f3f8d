package domain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/weburl"
)

var installation = Options{PlatformZone: "go.links.example.net", AssetsHost: "images.example.net",
	APIHost: "api.example.net", Connection: Connection{CNAME: "connect.example.net"}, ReservedPrefixes: []string{"acme"}}

// problem returns the place and the words of a refusal, "" for none.
func problem(t *testing.T, err error) (path, message string) {
	t.Helper()
	if err == nil {
		return "", ""
	}
	refusal, ok := fault.From(err)
	if !ok || refusal.Code != fault.ValidationFailed || len(refusal.Details) != 1 {
		t.Fatalf("no refusal of one field: %v", err)
	}
	return refusal.Details[0].Path, refusal.Details[0].Message
}

func TestOwnHostname(t *testing.T) {
	for value, want := range map[string]string{
		"go.example.com":                         "go.example.com",
		"Go.Example.COM.":                        "go.example.com",
		"example.com":                            "example.com",
		"example.co.uk":                          "example.co.uk",
		"me.github.io":                           "me.github.io",
		"bücher.example.com":                     "xn--bcher-kva.example.com",
		"xn--bcher-kva.example.com":              "xn--bcher-kva.example.com",
		"straße.example.com":                     "xn--strae-oqa.example.com",
		"москва.example.com":                     "xn--80adxhks.example.com",
		"сахар.рф":                               "xn--80aa2cbv.xn--p1ai", // all of it looks Latin, below Cyrillic
		"東京タワー.example.com":                      "xn--5ck2eqb538s34z.example.com",
		"ブログblog.example.com":                    "xn--blog-km4cti0f.example.com",
		"한국abc.example.com":                      "xn--abc-lt8lk11n.example.com",
		"ㄅㄆ漢a.example.com":                       "xn--a-1jud4174d.example.com",
		"नमस्ते.example.com":                     "xn--h2bhs4b8d8a.example.com",
		"ελλάδα.example.com":                     "xn--hxakic4aa.example.com",
		"links.example.net":                      "", // above the platform zone
		"example.net":                            "",
		"go.links.example.net":                   "",
		"a.go.links.example.net":                 "",
		"a.b.go.links.example.net":               "",
		"xgo.links.example.net":                  "xgo.links.example.net",
		"images.example.net":                     "",
		"api.example.net":                        "",
		"CONNECT.example.net.":                   "",
		"a.images.example.net":                   "a.images.example.net",
		"com":                                    "",
		"co.uk":                                  "",
		"github.io":                              "",
		"xn--p1ai":                               "",
		"localhost":                              "",
		"a.localhost":                            "",
		"a.example":                              "",
		"a.test":                                 "",
		"a.internal":                             "",
		"a.local":                                "",
		"1.0.0.127.in-addr.arpa":                 "",
		"":                                       "",
		".":                                      "",
		"a..example.com":                         "",
		"*.example.com":                          "",
		"_dmarc.example.com":                     "",
		"-a.example.com":                         "",
		"ab--c.example.com":                      "",
		"192.0.2.1":                              "",
		"[2001:db8::1]":                          "",
		"https://go.example.com":                 "",
		"go.example.com:443":                     "",
		"go.example.com/x":                       "",
		"a b.example.com":                        "",
		"xn--a.example.com":                      "", // no punycode
		"xn--abc-.example.com":                   "",
		"раypal.example.com":                     "", // Cyrillic and Latin
		"gооgle.example.com":                     "",
		"αpple.example.com":                      "",
		"раураӏ.example.com":                     "", // Cyrillic that looks Latin
		"сахар.com":                              "",
		"xn--80aa2cbv.com":                       "",
		"νοω.example.com":                        "", // Greek
		"սոօ.example.com":                        "", // Armenian
		"אבгд.example.com":                       "",
		"漢カㄅ.example.com":                        "", // Bopomofo and Katakana
		"한かな.example.com":                        "",
		"ꭰꭱꭲ.example.com":                        "", // Cherokee
		"ⲁⲃ.example.com":                         "", // Coptic
		"a💥.example.com":                         "",
		"i♥.example.com":                         "",
		"a・b.example.com":                        "",
		"٣४.example.com":                         "",
		"क1२.example.com":                        "",
		"क12.example.com":                        "xn--12-lnf.example.com",
		strings.Repeat("a", 64) + ".example.com": "",
		strings.Repeat("a", 63) + ".example.com": strings.Repeat("a", 63) + ".example.com",
		strings.Repeat("abcdefg.", 28) + "abcdef.com":  strings.Repeat("abcdefg.", 28) + "abcdef.com", // 234 characters
		strings.Repeat("abcdefg.", 28) + "abcdefg.com": "",
	} {
		got, err := installation.ownHostname(value)
		path, message := problem(t, err)
		if got != want || (err == nil) != (want != "") || path != "" && path != "/hostname" {
			t.Errorf("%q: got %q, want %q: %s %s", value, got, want, path, message)
		}
	}
	// A refusal tells what to do.
	for value, want := range map[string]string{
		"go.example.com:443":     "such as go.example.com",
		"images.example.net":     "images.example.net is one of this installation itself",
		"a.go.links.example.net": "mode platform",
		"example.net":            "go.links.example.net",
		"a.test":                 "below test",
		"co.uk":                  "a name of your own below it",
		"gооgle.example.com":     "the part gооgle of the hostname mixes scripts",
		"сахар.com":              "Cyrillic letters that look like Latin ones",
		"i♥.example.com":         "no symbols",
		"क1२.example.com":        "mixes digits",
		"ⲁⲃ.example.com":         "a script that hostnames cannot have here",
	} {
		_, err := installation.ownHostname(value)
		if _, message := problem(t, err); !strings.Contains(message, want) {
			t.Errorf("%q: %s", value, message)
		}
	}
	if got, err := (Options{}).ownHostname("links.example.net"); err != nil || got != "links.example.net" {
		t.Errorf("an installation without a zone: %q, %v", got, err)
	}
}

func TestPlatformHostname(t *testing.T) {
	for _, prefix := range []string{"go", "demo", "demo-1f2e", "Shop", "bücher", "a", "1", "42", "ns-shop", "wwwhale",
		"mails", "apis", "admins", "москва", "東京", "late", "linked", "acmes", "s", "m"} {
		if got, err := installation.platformHostname(prefix); err != nil || !strings.HasSuffix(got, "."+installation.
			PlatformZone) {
			t.Errorf("%q: %q, %v", prefix, got, err)
		}
	}
	for prefix, want := range map[string]string{
		"www": "www is reserved", "WWW": "www is reserved", "api": "is reserved", "admin": "is reserved",
		"ns": "is reserved", "ns1": "ns1 is reserved", "mx20": "is reserved", "www2": "is reserved", "wpad": "is reserved",
		"isatap": "is reserved", "autodiscover": "is reserved", "mta-sts": "is reserved", "acme": "acme is reserved",
		"adm1n": "looks like admin", "adrnin": "looks like admin", "lоgin": "mixes scripts", "l0gin": "looks like login",
		"1ogin": "looks like login", "vvvvvv": "looks like www", "ádmin": "looks like admin", "suppоrt": "mixes scripts",
		"supp0rt3": "looks like support", "clocs": "looks like docs", "stätus": "looks like status",
		"аррӏе": "look like Latin", "ɑpi": "looks like api",
		"ıogın": "looks like login", "a.b": "one DNS label", "-a": "one DNS label", "a-": "one DNS label",
		"_dmarc": "one DNS label", "": "one DNS label", "a_b": "one DNS label", "a。b": "one DNS label",
		"💥": "no symbols", "xn--a": "one DNS label", "ab--c": "one DNS label", "*": "one DNS label",
	} {
		got, err := installation.platformHostname(prefix)
		path, message := problem(t, err)
		if got != "" || path != "/prefix" || !strings.Contains(message, want) {
			t.Errorf("%q: %q, %s %s; want %q", prefix, got, path, message, want)
		}
	}
	// The names of the installation itself, whatever they are.
	o := Options{PlatformZone: "example.net", AssetsHost: "pictures.example.net", APIHost: "manage.example.net",
		Connection: Connection{CNAME: "in.example.net"}}
	for _, prefix := range []string{"pictures", "manage", "in"} {
		if got, err := o.platformHostname(prefix); err == nil {
			t.Errorf("%q: %q", prefix, got)
		}
	}
	if _, err := (Options{PlatformZone: "localhost"}).platformHostname("go"); err != nil {
		t.Errorf("in development: %v", err)
	}
}

// The tables agree with themselves: each letter stands in a recommended script, and
// each reserved prefix is refused.
func TestLookalikes(t *testing.T) {
	for r, like := range lookalikes {
		used, known := scriptsOf(string(r))
		if !known || len(used) != 1 || like == "" || strings.Trim(like, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q: %q of %v", r, like, used)
		}
	}
	for label, like := range map[string]string{"g0": "go", "a1": "al", "ai": "al", "rnail": "mall", "vveb": "web",
		"clocs": "docs", "ciocs": "docs", "c1ocs": "docs"} {
		if skeleton(label) != skeleton(like) {
			t.Errorf("%s does not look like %s: %s, %s", label, like, skeleton(label), skeleton(like))
		}
	}
	for _, label := range []string{"go", "al", "mall", "web", "docs", "cards", "van"} {
		if got := skeleton(label); got != label {
			t.Errorf("%s looks like %s", label, got)
		}
	}
	for _, name := range reservedPrefixes {
		_, err := installation.platformHostname(name)
		if _, message := problem(t, err); !strings.Contains(message, name+" is reserved") {
			t.Errorf("%s: %s", name, message)
		}
	}
}

// FuzzHostnames checks that what is accepted has one form, belongs to the public DNS
// or the platform's zone, and is accepted again.
func FuzzHostnames(f *testing.F) {
	for _, seed := range []string{"go.example.com", "bücher.example.com", "xn--80aa2cbv.com", "раypal.com", "a..b", "ǆ.com",
		"\u0640.com", "१२.com", "go", "adm1n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got, err := installation.ownHostname(value); err == nil {
			again, err := installation.ownHostname(got)
			if canonical, ok := weburl.AuthorityHost(got); err != nil || again != got || !ok || canonical != got ||
				!weburl.Public(got) || isBelow(got, installation.PlatformZone) {
				t.Errorf("%q became %q, and that %q, %v", value, got, again, err)
			}
		}
		if got, err := installation.platformHostname(value); err == nil {
			label, ok := strings.CutSuffix(got, "."+installation.PlatformZone)
			again, err := installation.platformHostname(label)
			if !ok || strings.Contains(label, ".") || err != nil || again != got {
				t.Errorf("%q became %q, and that %q, %v", value, got, again, err)
			}
		}
	})
}

// Every decimal digit of Unicode belongs to a zero, and nothing else does.
func TestZeros(t *testing.T) {
	for r := rune(0); r < 0x20000; r++ {
		zero := zeroOf(r)
		if (zero != 0) != unicode.Is(unicode.Nd, r) {
			t.Errorf("%U is a digit, of %U", r, zero)
		}
		if zero == 0 {
			continue
		}
		if first := zeroOf(zero); zero > r || r > zero+9 || first != zero {
			t.Errorf("%U is said to be the zero of %U", zero, r)
		}
	}
	for _, digits := range []string{"0123456789", "٠١٢٣٤٥٦٧٨٩", "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡", "𝟢𝟣𝟤𝟥𝟦𝟧𝟨𝟩𝟪𝟫"} {
		want, _ := utf8.DecodeRuneInString(digits)
		for _, r := range digits {
			if zero := zeroOf(r); zero != want {
				t.Errorf("the zero of %q is %q, want %q", r, zero, want)
			}
		}
		if mixesDigits(digits) || !mixesDigits(digits+"०") {
			t.Errorf("%s is or is not a mixture", digits)
		}
	}
}
