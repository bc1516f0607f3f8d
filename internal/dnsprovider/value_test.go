package dnsprovider

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/miekg/dns"
)

func TestCanonical(t *testing.T) {
	long := strings.Repeat("é", 300)
	label63 := strings.Repeat("a", 63)
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	for _, test := range []struct{ kind, value, want string }{
		{"A", "192.0.2.1", "192.0.2.1"},
		{"A", "192.0.2.256", ""},
		{"A", "192.0.2.01", ""},
		{"A", " 192.0.2.1", ""},
		{"A", "::ffff:192.0.2.1", ""},
		{"AAAA", "2001:DB8:0:0::0001", "2001:db8::1"},
		{"AAAA", "::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"AAAA", "fe80::1%eth0", ""},
		{"AAAA", "192.0.2.1", ""},
		{"CNAME", "WWW.Example.net.", "www.example.net"},
		{"CNAME", "_x.example.net", "_x.example.net"},
		{"CNAME", ".", ""},
		{"CNAME", "", ""},
		{"CNAME", "a b", ""},
		{"CNAME", "a..b", ""},
		{"CNAME", "-a.example", ""},
		{"CNAME", "a;b", ""},
		{"CNAME", `a\.b`, ""},
		{"CNAME", label63 + ".example", label63 + ".example"},
		{"CNAME", label63 + "a.example", ""},
		{"CNAME", name253, name253},
		{"CNAME", name253 + "b", ""},
		{"NS", "NS1.example.net", "ns1.example.net"},
		{"MX", "010  Mail.example.net.", "10 mail.example.net"},
		{"MX", "0 .", "0 ."},
		{"MX", "65535 a.example", "65535 a.example"},
		{"MX", "65536 a.example", ""},
		{"MX", "-1 a.example", ""},
		{"MX", "mail.example.net", ""},
		{"MX", "1 2 a.example", ""},
		{"MX", "10", ""},
		{"SRV", "1 2 3 A.example", "1 2 3 a.example"},
		{"SRV", "0 0 0 .", "0 0 0 ."},
		{"SRV", "1 2 a.example", ""},
		{"SRV", "1 2 3 4 a.example", ""},
		{"CAA", "0 Issue ca.example.net", `0 issue "ca.example.net"`},
		{"CAA", `0 issue ""`, `0 issue ""`},
		{"CAA", `255 issue ";"`, `255 issue ";"`},
		{"CAA", `256 issue ";"`, ""},
		{"CAA", `0 issue "a"b"`, ""},
		{"CAA", `0 issue a b`, ""},
		{"CAA", `0 issue "a\b"`, ""},
		{"CAA", "0 issue", ""},
		{"CAA", "0 is-sue x", ""},
		{"TXT", long, long},
		{"TXT", " \"q\" \\ \\065 ; ( \n é ", " \"q\" \\ \\065 ; ( \n é "},
		{"TXT", strings.Repeat("x", maxText), strings.Repeat("x", maxText)},
		{"TXT", strings.Repeat("x", maxText+1), ""},
		{"TXT", "a\xffb\x00", "a\uFFFDb\uFFFD"},
		{"PTR", "a.example", ""},
		{"", "a.example", ""},
	} {
		got, err := Canonical(test.kind, test.value)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s %.80q becomes %.80q, %v; not %.80q", test.kind, test.value, got, err, test.want)
		}
	}
	if got, err := Canonical("TXT", ""); got != "" || err != nil {
		t.Errorf("an empty text becomes %q, %v", got, err)
	}
}

func TestSame(t *testing.T) {
	a := set("a.example", "MX", 60, "10 B.example.", "20 c.example")
	for _, test := range []struct {
		other Set
		same  bool
	}{
		{set("a.example", "MX", 300, "20 C.example", "10 b.example", "10 b.example."), true},
		{set("a.example", "MX", 60, "10 b.example"), false},
		{set("b.example", "MX", 60, a.Values...), false},
		{set("a.example", "TXT", 60, a.Values...), false},
		{set("a.example", "MX", 60, "10 b.example", "21 c.example"), false},
	} {
		if a.Same(test.other) != test.same || test.other.Same(a) != test.same {
			t.Errorf("%v and %v", a, test.other)
		}
	}
	odd := set("a.example", "A", 60, "nonsense")
	if !odd.Same(odd) || odd.Same(none(odd)) || !none(odd).Same(set("a.example", "A", 60)) {
		t.Error("values without a meaning")
	}
}

func TestRegistry(t *testing.T) {
	for zone, want := range map[string]bool{"": true, "com": true, "co.uk": true, "unlisted": true,
		"example.com": false, "example.co.uk": false, "corp.unlisted": false, "github.io": false} {
		if registry(zone) != want {
			t.Errorf("%q: %v", zone, !want)
		}
	}
}

// Whatever is accepted has one form, and comes back from the wire as it was.
func FuzzCanonical(f *testing.F) {
	for _, each := range sets {
		for _, value := range append(each.first.Values, each.second.Values...) {
			f.Add(each.first.Type, value)
		}
	}
	f.Fuzz(func(t *testing.T, kind, value string) {
		canonical, err := Canonical(kind, value)
		if err != nil {
			return
		}
		if again, err := Canonical(kind, canonical); again != canonical || err != nil {
			t.Fatalf("%s %q becomes %q, then %q, %v", kind, value, canonical, again, err)
		}
		if kind == "TXT" && utf8.ValidString(value) && !strings.Contains(value, "\x00") && canonical != value {
			t.Fatalf("the text %q becomes %q", value, canonical)
		}
		records, err := set("a.example", kind, 60, value).records()
		if err != nil || len(records) != 1 {
			t.Fatalf("%s %q: %v, %v", kind, canonical, records, err)
		}
		wire := make([]byte, dns.MaxMsgSize)
		n, err := dns.PackRR(records[0], wire, 0, nil, false)
		if err != nil {
			t.Fatalf("%s %q: %v", kind, canonical, err)
		}
		back, _, err := dns.UnpackRR(wire[:n], 0)
		if err != nil || valueOf(back) != canonical {
			t.Fatalf("%s %q comes back from the wire as %v, %v", kind, canonical, back, err)
		}
		read, err := dns.NewRR(records[0].String())
		if err != nil || read == nil || valueOf(read) != canonical {
			t.Fatalf("%s %q comes back from a zone file as %v, %v", kind, canonical, read, err)
		}
	})
}

func TestParseKey(t *testing.T) {
	for _, text := range []string{"Way.Mark:HMAC-SHA512:bm90\n", " waymark:hmac-sha224:bm90"} {
		if _, err := ParseKey(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, says := range map[string]string{
		"":                                  "NAME:ALGORITHM:SECRET",
		"waymark:c2VjcmV0c2VjcmV0":          "NAME:ALGORITHM:SECRET",
		"hmac-sha256:waymark:c2VjcmV0":      "hmac-sha224, hmac-sha256, hmac-sha384, hmac-sha512",
		"waymark:hmac-md5:c2VjcmV0":         "algorithm",
		"way mark:hmac-sha256:c2VjcmV0":     "name",
		".:hmac-sha256:c2VjcmV0":            "name",
		"waymark:hmac-sha256:":              "base64",
		"waymark:hmac-sha256:c2VjcmV0 more": "base64",
	} {
		_, err := ParseKey(text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "c2Vj") {
			t.Errorf("%q: %v does not say %q, or repeats the secret", text, err, says)
		}
	}
}

// A text is as few strings as it fits into.
func TestSplit(t *testing.T) {
	for length, strings255 := range map[int]int{0: 1, 1: 1, 255: 1, 256: 2, 510: 2, 511: 3} {
		if parts := split(strings.Repeat("x", length)); len(parts) != strings255 {
			t.Errorf("%d bytes are %d strings", length, len(parts))
		}
	}
}

// A set is each value once, whatever the order of the values.
func TestRecords(t *testing.T) {
	records, err := set("a.example", "NS", 60, "b.example", "a.example", "B.example.").records()
	if err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	got := setOf("a.example", "NS", records)
	if !slices.Equal(got.Values, []string{"a.example", "b.example"}) || got.TTL != 60 {
		t.Error(got)
	}
}
