package outbound

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
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

// 64 KiB of an answer are read: one with a longer head is an error.
func TestLongestAnswer(t *testing.T) {
	const begin, end = "HTTP/1.1 204 No Content\r\nX: ", "\r\n\r\n"
	for length, ok := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				io.WriteString(server, begin+strings.Repeat("x", length-len(begin+end))+end)
			}
		}()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := exchange(client, request)
		if (err == nil) != ok || ok && response.StatusCode != http.StatusNoContent {
			t.Errorf("a head of %d bytes: %v, %v", length, response, err)
		}
		client.Close()
	}
}
