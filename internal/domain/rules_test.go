package domain

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
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
