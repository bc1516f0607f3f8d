package outbound

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// A hostname is asked at its public addresses and at those of the installation itself, and at none
// when it has another one.
func TestTargets(t *testing.T) {
	own := netip.MustParseAddr("10.0.0.7")
	for addresses, code := range map[[2]string]string{
		{"9.9.9.9", "2620:fe::fe"}: "", {"10.0.0.7", "9.9.9.9"}: "", {"9.9.9.9", "10.0.0.8"}: dnsBlocked,
		{"::1", "10.0.0.7"}: dnsBlocked, {}: dnsFailed,
	} {
		var all []netip.Addr
		var want []netip.AddrPort
		for _, a := range addresses {
			if a != "" {
				all = append(all, netip.MustParseAddr(a))
				want = append(want, netip.AddrPortFrom(netip.MustParseAddr(a), 443))
			}
		}
		if code != "" {
			want = nil
		}
		p := &Prober{ProbeOptions: ProbeOptions{Own: []netip.Addr{own}}}
		if targets, got := p.targets(all); got != code || !slices.Equal(targets, want) {
			t.Errorf("%v leads to %v, %q; want %v, %q", addresses, targets, got, want, code)
		}
	}
}

// late is a context that has not noticed yet that its time is over.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now(), true }

// The time of an attempt is over at its deadline, whoever notices it first.
func TestIsOver(t *testing.T) {
	over, cancel := context.WithTimeout(t.Context(), time.Hour)
	if isOver(over) || !isOver(late{over}) {
		t.Error("a context of an hour is over, or one whose deadline has passed is not")
	}
	if cancel(); !isOver(over) {
		t.Error("a context that has ended is not over")
	}
}
