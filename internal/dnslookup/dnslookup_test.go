package dnslookup_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/dnslookup/dnstest"
)

// fails checks that an error is the failure of a name, and says so.
func fails(t *testing.T, err error, code dnslookup.Code, name string) {
	t.Helper()
	var f *dnslookup.Failure
	if !errors.As(err, &f) || f.Code != code || f.Name != name || !strings.Contains(f.Error(), name) ||
		dnslookup.IsAbsent(err) != (code == dnslookup.NoName || code == dnslookup.NoRecord) {
		t.Errorf("%v, want %s of %s", err, code, name)
	}
}

func addresses(all ...string) (parsed []netip.Addr) {
	for _, a := range all {
		parsed = append(parsed, netip.MustParseAddr(a))
	}
	return parsed
}

// A real server answers: chains, texts of several strings, answers that are larger
// than a packet, both kinds of addresses.
func TestKnot(t *testing.T) {
	server := dnstest.Start(t, "example.com", "example.net")
	long := strings.Repeat("x", 255)
	zone := []string{
		"@ A 192.0.2.1", "@ AAAA 2001:db8::1", `@ TXT "one" " and two"`, `@ TXT "` + long + `" "y"`,
		"go CNAME Alias.Example.NET.", "four A 192.0.2.4", "six AAAA 2001:db8::6",
		"gone CNAME nowhere", "loop CNAME loop2", "loop2 CNAME loop", "self CNAME self", "_proof CNAME text.example.net.",
		"outside CNAME www.example.org.",
		// Eight CNAME records lead from b to j, nine from a.
		"a CNAME b", "b CNAME c", "c CNAME d", "d CNAME e", "e CNAME f", "f CNAME g", "g CNAME h", "h CNAME i", "i CNAME j",
		"j A 192.0.2.10",
	}
	for range 40 {
		zone = append(zone, "large TXT "+strings.Repeat("x", 100+len(zone)))
	}
	server.Set(t, "example.com", zone...)
	server.Set(t, "example.net", "alias CNAME end", "end A 192.0.2.9", "end A 192.0.2.8", `text TXT "proof"`)
	r := dnslookup.New(server.Address)

	texts, err := r.TXT(t.Context(), "EXAMPLE.com")
	if slices.Sort(texts); err != nil || !slices.Equal(texts, []string{"one and two", long + "y"}) {
		t.Errorf("TXT = %q, %v", texts, err)
	}
	if texts, err := r.TXT(t.Context(), "_proof.example.com"); err != nil || !slices.Equal(texts, []string{"proof"}) {
		t.Errorf("TXT behind a CNAME = %q, %v", texts, err)
	}
	if texts, err := r.TXT(t.Context(), "large.example.com"); err != nil || len(texts) != 40 {
		t.Errorf("a large answer has %d texts, %v", len(texts), err)
	}
	_, err = r.TXT(t.Context(), "four.example.com")
	fails(t, err, dnslookup.NoRecord, "four.example.com")
	_, err = r.TXT(t.Context(), "nowhere.example.com")
	fails(t, err, dnslookup.NoName, "nowhere.example.com")
	if names, err := r.NS(t.Context(), "example.com"); err != nil || !slices.Equal(names, []string{"ns.example.com"}) {
		t.Errorf("NS = %q, %v", names, err)
	}
	for name, want := range map[string]dnslookup.Host{
		"example.com":      {Addresses: addresses("192.0.2.1", "2001:db8::1")},
		"four.example.com": {Addresses: addresses("192.0.2.4")},
		"six.example.com":  {Addresses: addresses("2001:db8::6")},
		"go.example.com": {Aliases: []string{"alias.example.net", "end.example.net"},
			Addresses: addresses("192.0.2.8", "192.0.2.9")},
		"b.example.com": {Aliases: []string{"c.example.com", "d.example.com", "e.example.com", "f.example.com",
			"g.example.com", "h.example.com", "i.example.com", "j.example.com"}, Addresses: addresses("192.0.2.10")},
	} {
		got, err := r.Host(t.Context(), name)
		slices.SortFunc(got.Addresses, netip.Addr.Compare)
		if err != nil || !slices.Equal(got.Aliases, want.Aliases) || !slices.Equal(got.Addresses, want.Addresses) {
			t.Errorf("Host(%s) = %v, %v", name, got, err)
		}
	}
	for name, want := range map[string]dnslookup.Failure{
		"a.example.com":       {Code: dnslookup.BadChain, Name: "a.example.com"},
		"loop.example.com":    {Code: dnslookup.BadChain, Name: "loop.example.com"},
		"self.example.com":    {Code: dnslookup.BadChain, Name: "self.example.com"},
		"nowhere.example.com": {Code: dnslookup.NoName, Name: "nowhere.example.com"},
		"ns.example.net":      {Code: "", Name: ""},
		"text.example.net":    {Code: dnslookup.NoRecord, Name: "text.example.net"},
		"www.example.org":     {Code: dnslookup.Refused, Name: "www.example.org"},
	} {
		if _, err := r.Host(t.Context(), name); want.Code != "" {
			fails(t, err, want.Code, want.Name)
		} else if err != nil {
			t.Errorf("Host(%s): %v", name, err)
		}
	}
	// What the chain has led to is told also when its end has no answer.
	for name, end := range map[string]string{"gone.example.com": "nowhere.example.com",
		"outside.example.com": "www.example.org"} {
		h, err := r.Host(t.Context(), name)
		if err == nil || !slices.Equal(h.Aliases, []string{end}) {
			t.Errorf("Host(%s) = %v, %v", name, h, err)
		}
	}
}

func TestCanceled(t *testing.T) {
	server := dnstest.Start(t, "example.com")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dnslookup.New(server.Address).Host(ctx, "example.com"); err == nil {
		t.Error("a lookup after the end of its context has an answer")
	}
}
