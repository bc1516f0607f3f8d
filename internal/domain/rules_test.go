package domain

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// What an installation is not set up for is forbidden, and the refusal names the
// flag.
func TestNoZone(t *testing.T) {
	_, err := Options{}.fromBody(&CreateDomain{Mode: "platform", Prefix: opt.NullOf("go")})
	if refusal, ok := fault.From(err); !ok || refusal.Code != fault.InsufficientPermission ||
		!strings.Contains(refusal.Message, "--platform-zone") {
		t.Errorf("without a platform zone: %v", err)
	}
	if d, err := (Options{PlatformZone: "links.example"}).fromBody(&CreateDomain{Mode: "platform",
		Prefix: opt.NullOf("go")}); err != nil || d.Hostname != "go.links.example" {
		t.Errorf("with one: %v, %v", d.Hostname, err)
	}
}

// What the installation is not set up for is neither offered nor accepted.
func TestModesOfInstallation(t *testing.T) {
	address := []netip.Addr{netip.MustParseAddr("192.0.2.80")}
	for _, c := range []struct {
		o     Options
		modes []Mode
	}{
		{Options{}, nil},
		{Options{PlatformZone: "links.example"}, []Mode{Platform}},
		{Options{Connection: Connection{CNAME: "connect.example"}}, []Mode{External}},
		{Options{Connection: Connection{Addresses: address}}, []Mode{External}},
		{Options{Connection: Connection{CNAME: "connect.example"}, Provider: noProvider{}}, []Mode{External}},
		{Options{Connection: Connection{Addresses: address}, Provider: noProvider{}}, []Mode{Managed, External}},
	} {
		offered, _ := c.o.choices(t.Context(), nil, nil)
		if fmt.Sprint(offered.Data.Modes) != fmt.Sprint(c.modes) {
			t.Errorf("%+v offers %v, want %v", c.o, offered.Data.Modes, c.modes)
		}
	}
}

// Each address of an installation is offered as a record of its own kind, and nothing without one.
func TestChoicesOfAddresses(t *testing.T) {
	o := Options{Connection: Connection{Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.80"),
		netip.MustParseAddr("2001:db8::80"), netip.MustParseAddr("192.0.2.81")}}}
	offered, err := o.choices(t.Context(), nil, nil)
	c := offered.Data
	if err != nil || fmt.Sprint(c.Connection.A, c.Connection.AAAA) != "[192.0.2.80 192.0.2.81] [2001:db8::80]" ||
		fmt.Sprint(c.ApexProfiles) != "[{a By address [{A 192.0.2.80} {AAAA 2001:db8::80} {A 192.0.2.81}]}]" {
		t.Errorf("offered are %+v, %+v, %v", c.Connection, c.ApexProfiles, err)
	}
	o.Connection = Connection{CNAME: "connect.example"}
	if offered, err := o.choices(t.Context(), nil, nil); err != nil || len(offered.Data.ApexProfiles) != 0 {
		t.Errorf("without an address %+v are offered, %v", offered.Data.ApexProfiles, err)
	}
}

// A managed hostname takes no profile of records, and one of an owner that is to connect by address needs an installation
// that has one.
func TestApexProfile(t *testing.T) {
	byName := Options{Connection: Connection{CNAME: "connect.example"}}
	both := Options{Provider: noProvider{}, Connection: Connection{CNAME: "connect.example",
		Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.80")}}}
	body := func(mode Mode) *CreateDomain {
		return &CreateDomain{Mode: mode, Hostname: opt.NullOf("example.com"), ApexProfileID: opt.NullOf("a")}
	}
	_, err := both.fromBody(body(Managed))
	if path, message := problem(t, err); path != "/apexProfileId" || !strings.Contains(message, "managed") {
		t.Errorf("managed: %s %s", path, message)
	}
	_, err = byName.fromBody(body(External))
	if refusal, ok := fault.From(err); !ok || refusal.Code != fault.InsufficientPermission ||
		!strings.Contains(refusal.Message, "--connect-ips") {
		t.Errorf("without an address: %v", err)
	}
	if d, err := both.fromBody(body(External)); err != nil || d.apexProfile != "a" {
		t.Errorf("with one: %q, %v", d.apexProfile, err)
	}
}

// Why the DNS records of a domain are not changed here is told by its mode, then by what the installation lacks, then by
// what its owner has to do.
func TestNoRecords(t *testing.T) {
	now := clock.Instant(1)
	for _, c := range []struct {
		d        Domain
		provider dnsprovider.Provider
		want     string
	}{
		{Domain{Mode: Platform, verifiedAt: &now}, noProvider{}, "The records of a platform domain belong to the installation."},
		{Domain{Mode: External, verifiedAt: &now}, noProvider{}, "The DNS of an external domain stays at its owner's provider."},
		{Domain{Mode: Managed}, nil, "This installation manages no DNS zones any more (--dns-provider)."},
		{Domain{Mode: Managed, verifiedAt: &now}, nil, "This installation manages no DNS zones any more (--dns-provider)."},
		{Domain{Mode: Managed}, noProvider{}, "The ownership is not proved yet. Add the record of the challenge and verify " +
			"the domain."},
		{Domain{Mode: Managed, verifiedAt: &now}, noProvider{}, ""},
	} {
		if got := (Options{Provider: c.provider}).noRecords(&c.d); got != c.want {
			t.Errorf("%s: %q, want %q", c.d.Mode, got, c.want)
		}
	}
}

// Why a hostname has no certificate is told in the words of the authority when they are for owners, and nothing is told of
// any other cause.
func TestWhyThereIsNoCertificate(t *testing.T) {
	for want, cause := range map[string]error{
		"Its CAA record names another authority.": fmt.Errorf("order: %w",
			&certificate.Failure{Message: "Its CAA record names another authority."}),
		"No certificate could be got for go.example.com. Verify again later, and ask the operator of this installation if it " +
			"goes on.": errors.New("disk full"),
	} {
		o := Options{Certify: func(context.Context, string) error { return cause }}
		v := verification{DNS: finding{Status: passed}}
		o.inspectService(t.Context(), &Domain{Hostname: "go.example.com"}, &v)
		if v.HTTPS.Status != failed || v.HTTPS.Code != "certificate_failed" || v.HTTPS.Message != want ||
			v.Links.Status != skipped || v.Links.Message != "The hostname has no certificate yet." {
			t.Errorf("after %q the verification is %+v", cause, v)
		}
	}
}

// What cannot be written down is an error, and no statement is tried without it.
func TestWhatCannotBeStored(t *testing.T) {
	ctx := store.WithFaults(t.Context(), func(query string) error {
		t.Errorf("tried: %s", query)
		return errors.New("no statement")
	})
	const broken = "\xff" // no UTF-8
	for name, err := range map[string]error{
		"a failure": (&Domain{LastError: opt.NullOf(publication.Error{Message: broken})}).
			saveObserved(ctx, new(store.Tx), &Domain{}),
		"a verification": (&Domain{verification: opt.NullOf(verification{DNS: finding{Message: broken}})}).
			saveObserved(ctx, new(store.Tx), &Domain{}),
		"the end of a claim": (&Domain{Hostname: broken}).displace(ctx, new(store.Tx)),
	} {
		if err == nil {
			t.Errorf("%s is stored", name)
		}
	}
}

// A process whose places are all taken does not look for due domains; here it has no database to look in.
func TestNoPlaceForChecks(t *testing.T) {
	c := NewChecker(nil, Options{}, nil)
	for n := range 16 {
		if !c.places.Take(fmt.Sprint("owner ", n/4)) {
			t.Fatalf("there is no place %d", n)
		}
	}
	if found, err := c.due(t.Context()); len(found) != 0 || err != nil {
		t.Errorf("%v are due, %v", found, err)
	}
}

// noProvider is a DNS provider that is never asked.
type noProvider struct{}

func (noProvider) Zone(context.Context, string) (string, error) { panic("not asked") }

func (noProvider) Get(context.Context, string, string, string) (dnsprovider.Set, error) {
	panic("not asked")
}

func (noProvider) Replace(context.Context, string, dnsprovider.Set, dnsprovider.Set) error {
	panic("not asked")
}

// A domain that works does not fail because the DNS could not be asked, however long
// that lasts; one whose records are wrong does.
func TestDNSAwayIsNoFailure(t *testing.T) {
	for code, blocked := range map[string]bool{dnsAway: false, misconfigured: true} {
		d := Domain{Mode: External, DNS: DNSConfigured, HTTPS: HTTPSDelegated, Links: LinksReady}
		now := clock.Instant(0)
		for range 5 {
			v := verification{Ownership: finding{Status: passed}, DNS: finding{Status: failed, Code: code, Message: "why"}}
			Options{}.conclude(&d, &v, now)
			now = now.Add(time.Hour)
		}
		if d.LastError.Value.Code != code || (d.Links == LinksBlocked) != blocked || (d.DNS == DNSMisconfigured) != blocked {
			t.Errorf("after five hours of %s the domain is %+v", code, d)
		}
		if !blocked && d.failures != 0 {
			t.Errorf("%d failures are counted", d.failures)
		}
	}
}

// Twenty of the values that were seen are kept, each with its first 300 bytes and no half character.
func TestWhatIsKeptOfTheSeen(t *testing.T) {
	long := strings.Repeat("x", 299)
	for _, c := range []struct{ seen, kept string }{
		{"", ""}, {long + "y", long + "y"}, {long + "yz", long + "y"}, {long + "é", long},
	} {
		if kept := bounded([]string{c.seen}); len(kept) != 1 || kept[0] != c.kept {
			t.Errorf("of %d bytes %d are kept: %q", len(c.seen), len(kept[0]), kept)
		}
	}
	for seen, want := range map[int]int{0: 0, 20: 20, 21: 20} {
		if kept := bounded(make([]string, seen)); len(kept) != want {
			t.Errorf("of %d values %d are kept", seen, len(kept))
		}
	}
}

// A domain that works counts as failed after three failed checks over an hour, not earlier.
func TestChecksThatAreEnough(t *testing.T) {
	began := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		before int64
		after  time.Duration
		want   bool
	}{
		{1, time.Hour, false}, {2, time.Hour, true}, {2, time.Hour - time.Microsecond, false}, {9, time.Hour, true},
	} {
		d := Domain{failures: c.before, failingSince: &began}
		if d.fails(began.Add(c.after)) != c.want {
			t.Errorf("after %s with %d failures before: not %t", c.after, c.before, c.want)
		}
	}
	var d Domain
	if d.fails(began) || d.failures != 1 || d.failingSince == nil || *d.failingSince != began {
		t.Errorf("the first failure: %+v", d)
	}
}
