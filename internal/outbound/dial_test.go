package outbound

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

// The client reaches public addresses on port 443 alone, so that the choice
// among several is tested from inside.
func TestDial(t *testing.T) {
	closed, open := listener(t), listener(t)
	closed.Close()
	away, here := netip.MustParseAddrPort(closed.Addr().String()), netip.MustParseAddrPort(open.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), timeLimit)
	defer cancel()
	for _, c := range []struct {
		targets []netip.AddrPort
		ok      bool
	}{
		{[]netip.AddrPort{here}, true},
		{[]netip.AddrPort{away, away, here}, true},
		{[]netip.AddrPort{away, away, away, here}, false},
		{[]netip.AddrPort{away}, false},
	} {
		conn, err := dial(ctx, c.targets)
		if (err == nil) != c.ok {
			t.Errorf("dial(%v) = %v", c.targets, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
