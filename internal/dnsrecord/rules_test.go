package dnsrecord

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
)

const testHost = "go.example.org"

func TestNames(t *testing.T) {
	longest := strings.Repeat(strings.Repeat("a", 58)+".", 4) + "ab" // 238 and 15 more
	for sent, want := range map[string]string{
		"@": "@", "www": "www", "WWW": "www", "_sip._tcp": "_sip._tcp", "*": "*", "*.shop": "*.shop", "a.b.c": "a.b.c",
		"bücher": "xn--bcher-kva", "a-b": "a-b", "1": "1", "_acme-challenge.shop": "_acme-challenge.shop",
		strings.Repeat("a", 63): strings.Repeat("a", 63), longest: longest,
		"": "", ".": "", "www.": "", ".www": "", "a..b": "", "-a": "", "a-": "", "a b": "", "shop.*": "", "*a": "",
		"**":             "",
		"go.example.org": "", "www.go.example.org": "", "www.go.example.org.": "", "_waymark-challenge": "",
		"_ACME-challenge": "", "x._acme-challenge": "", "a\x00": "", "a\n": "", "a/b": "", `a\.b`: "", "a。b": "",
		strings.Repeat("a", 64): "", longest + "c": "", "\xff": "",
	} {
		got, err := parseName(testHost, sent)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("parseName(%q) = %q, %v; want %q", sent, got, err, want)
		}
	}
	if len(longest)+len(testHost)+1 != 253 {
		t.Errorf("the longest name has %d characters", len(longest)+len(testHost)+1)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		kind       Type
		sent, want string
	}{
		{A, "192.0.2.1", "192.0.2.1"}, {A, " 10.0.0.1 ", "10.0.0.1"}, {A, "127.0.0.1", "127.0.0.1"},
		{A, "0.0.0.0", ""}, {A, "255.255.255.255", ""}, {A, "224.0.0.1", ""}, {A, "2001:db8::1", ""},
		{A, "192.0.2.01", ""},
		{A, "192.0.2", ""}, {A, "www.example.net", ""}, {A, "192.0.2.1 192.0.2.2", ""}, {A, "", ""},
		{AAAA, "2001:DB8:0::1", "2001:db8::1"}, {AAAA, "::", ""}, {AAAA, "ff02::1", ""}, {AAAA, "::ffff:192.0.2.1", ""},
		{AAAA, "fe80::1%eth0", ""}, {AAAA, "192.0.2.1", ""}, {AAAA, "::1", "::1"},
		{CNAME, "Shop.Example.net.", "shop.example.net"},
		{CNAME, "s1._domainkey.example.net", "s1._domainkey.example.net"},
		{CNAME, "bücher.example", "xn--bcher-kva.example"}, {CNAME, "localhost", ""}, {CNAME, ".", ""},
		{CNAME, "a b.example", ""}, {CNAME, "x." + testHost, ""}, {CNAME, "192.0.2.1", ""}, {CNAME, "-a.example", ""},
		{CNAME, "https://example.net", ""}, {NS, "ns1.example.net", "ns1.example.net"}, {NS, ".", ""},
		{MX, "mail.example.net", "mail.example.net"}, {MX, "10 mail.example.net", ""}, {MX, ".", "."}, {MX, "mail", ""},
		{SRV, "5 5060 sip.example.net", "5 5060 sip.example.net"},
		{SRV, "05  5060 sip.example.net", "5 5060 sip.example.net"},
		{SRV, "0 0 .", "0 0 ."}, {SRV, "65536 1 a.example", ""}, {SRV, "1 65536 a.example", ""},
		{SRV, "1 a.example", ""},
		{SRV, "1 2 3 a.example", ""}, {SRV, "65535 65535 a.example", "65535 65535 a.example"},
		{CAA, `0 issue "letsencrypt.org"`, `0 issue "letsencrypt.org"`}, {CAA, `128 ISSUE letsencrypt.org`,
			`128 issue "letsencrypt.org"`}, {CAA, `0 issue ";"`, `0 issue ";"`}, {CAA, `256 issue "a"`, ""},
		{CAA, `issue "a"`, ""},
		{CAA, `0 issue "a`, ""}, {TXT, ` v=spf1  -all "x" \ ü;`, ` v=spf1  -all "x" \ ü;`}, {TXT, "a\nb", ""},
		{TXT, "a\x00", ""}, {TXT, "\u202etxt", ""}, {TXT, "", ""},
	} {
		got, err := parseValue(c.kind, "x."+testHost, c.sent)
		if (err == nil) != (c.want != "") || err == nil && got != c.want {
			t.Errorf("parseValue(%s, %q) = %q, %v; want %q", c.kind, c.sent, got, err, c.want)
		}
	}
}

// A content that was confirmed is known for as long as anything is.
func TestKnownContents(t *testing.T) {
	s := set{fqdn: testHost, kind: TXT, known: []content{{Values: []string{"confirmed"}}}}
	for n := range 20 {
		s.learn(content{Values: []string{strings.Repeat("x", n+1)}})
		s.learn(content{Values: []string{strings.Repeat("x", n+1)}})
	}
	if len(s.known) != maxKnown || !s.knows(content{Values: []string{"confirmed"}}) ||
		!s.knows(content{Values: []string{strings.Repeat("x", 14)}}) ||
		s.knows(content{Values: []string{strings.Repeat("x", 13)}}) {
		t.Errorf("known is %v", s.known)
	}
}

// A name that is taken is a name below the hostname, and its own canonical form.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"@", "www", "*.a", "_x._tcp", "bücher", "a..b", "xn--bcher-kva", "İ", "ß.K"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		name, err := parseName(testHost, sent)
		if err != nil {
			return
		}
		full := fqdn(name, testHost)
		if again, err := parseName(testHost, name); err != nil || again != name {
			t.Errorf("parseName(%q) = %q, of which parseName makes %q, %v", sent, name, again, err)
		}
		if _, ok := dns.IsDomainName(full); !ok || !dns.IsSubDomain(testHost+".", full+".") || len(full) > 253 ||
			relative(full, testHost) != name {
			t.Errorf("parseName(%q) = %q, which is %q", sent, name, full)
		}
	})
}

// A value that is taken is its own canonical form, and goes into a message.
func FuzzValue(f *testing.F) {
	kinds := []Type{A, AAAA, CNAME, TXT, MX, CAA, SRV, NS}
	for kind := range kinds {
		for _, seed := range []string{"192.0.2.1", "2001:db8::1", "a.example.", "5 5060 a.example", `0 issue "a"`,
			`\"`, ". ."} {
			f.Add(kind, seed)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, sent string) {
		if kind < 0 || kind >= len(kinds) || len(sent) > 2048 {
			return
		}
		value, err := parseValue(kinds[kind], "x."+testHost, sent)
		if err != nil {
			return
		}
		if again, err := parseValue(kinds[kind], "x."+testHost, value); err != nil || again != value {
			t.Errorf("parseValue(%s, %q) = %q, of which parseValue makes %q, %v", kinds[kind], sent, value, again, err)
		}
		if kinds[kind] == TXT {
			return // package dnsprovider makes its strings
		}
		priority := int64(65535)
		line := "x. 60 IN " + string(kinds[kind]) + " " + rdata(kinds[kind], value, &priority)
		rr, err := dns.NewRR(line)
		if err != nil || rr == nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := (&dns.Msg{Answer: []dns.RR{rr}}).Pack(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	})
}
