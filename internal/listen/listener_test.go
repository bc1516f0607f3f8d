package listen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// noted keeps what connections were closed for.
type noted struct {
	mu     sync.Mutex
	bounds []Bound
}

func (n *noted) add(b Bound) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bounds = append(n.bounds, b)
}

func (n *noted) wants(t *testing.T, want ...Bound) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.bounds, want) {
		t.Errorf("closed for %q, want %q", n.bounds, want)
	}
	n.bounds = nil
}

// client is a raw connection from an address of this machine.
type client struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, l *Listener, from string) *client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return &client{c, bufio.NewReader(c)}
}

// get asks once.
func (c *client) get() error {
	if _, err := io.WriteString(c, ask); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.r, nil)
	if err == nil && answer.StatusCode != 200 {
		err = errors.New(answer.Status)
	}
	return err
}

// begin has a request under way, besides others.
func (c *client) begin(t *testing.T, l *Listener, others int) {
	t.Helper()
	if _, err := io.WriteString(c, post+"Content-Length: 1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "a request under way", func() bool { active, _ := l.Open(); return active == others+1 })
}

// end ends it.
func (c *client) end() error {
	if _, err := io.WriteString(c, "x"); err != nil {
		return err
	}
	_, err := http.ReadResponse(c.r, nil)
	return err
}

// gone fails unless the server has closed the connection.
func (c *client) gone(t *testing.T) {
	t.Helper()
	if _, err := c.r.ReadByte(); err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection is open: %v", err)
	}
}

// opened waits for so many connections.
func opened(t *testing.T, l *Listener, active, idle int) {
	t.Helper()
	storetest.Eventually(t, "connections", func() bool { a, i := l.Open(); return a == active && i == idle })
}

// A full listener closes the connection that has waited longest for a request, and no
// other.
func TestLongestIdle(t *testing.T) {
	n := &noted{}
	l, _ := served(t, Options{Max: 3, Closed: n.add})
	var clients []*client
	for i := range 3 {
		c := dial(t, l, "127.0.0.1")
		if err := c.get(); err != nil {
			t.Fatal(err)
		}
		opened(t, l, 0, i+1)
		clients = append(clients, c)
	}
	n.wants(t)
	// The second waits longest, now that the first has asked again.
	if err := clients[0].get(); err != nil {
		t.Fatal(err)
	}
	opened(t, l, 0, 3)
	next := dial(t, l, "127.0.0.1")
	if err := next.get(); err != nil {
		t.Fatal(err)
	}
	clients[1].gone(t)
	n.wants(t, Connections)
	// One that is at work is never closed, however long it takes.
	opened(t, l, 0, 3)
	clients[2].begin(t, l, 0)
	l.mu.Lock()
	for e := l.open.Front(); e != nil; e = e.Next() {
		e.Value.(*conn).since = time.Time{}
	}
	l.mu.Unlock()
	for range 3 {
		if err := dial(t, l, "127.0.0.1").get(); err != nil {
			t.Fatal(err)
		}
	}
	if err := clients[2].end(); err != nil {
		t.Error(err)
	}
	n.wants(t, Connections, Connections, Connections)
	// And one that never sends a request is idle, too.
	opened(t, l, 0, 3)
	for range 3 {
		dial(t, l, "127.0.0.1")
	}
	storetest.Eventually(t, "three are closed", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.bounds) == 3
	})
	if err := dial(t, l, "127.0.0.1").get(); err != nil {
		t.Error(err)
	}
}

// Where every connection is at work, the next one waits until one is not.
func TestWait(t *testing.T) {
	for name, free := range map[string]func(c *client) error{
		"becomes idle": (*client).end, "ends": func(c *client) error { return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := served(t, Options{Max: 2, Closed: func(Bound) {}})
			busy := []*client{dial(t, l, "127.0.0.1"), dial(t, l, "127.0.0.1")}
			for i, c := range busy {
				c.begin(t, l, i)
			}
			answered := make(chan error, 2)
			for range 2 {
				next := dial(t, l, "127.0.0.1")
				go func() { answered <- next.get() }()
			}
			opened(t, l, 2, 0)
			select {
			case err := <-answered:
				t.Fatalf("answered with two at work: %v", err)
			default:
			}
			if err := free(busy[0]); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := <-answered; err != nil {
					t.Error(err)
				}
			}
			if err := busy[1].end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A client has its bound, within which its own longest idle connection makes room.
// Proxies that are trusted have none.
func TestAddress(t *testing.T) {
	n := &noted{}
	l, _ := served(t, Options{Max: 20, PerAddress: 2, Closed: n.add,
		Trusted: clientaddr.Trusted{netip.MustParsePrefix("127.0.0.9/32")}})
	other := dial(t, l, "127.0.0.2")
	if err := other.get(); err != nil {
		t.Fatal(err)
	}
	first, second := dial(t, l, "127.0.0.1"), dial(t, l, "127.0.0.1")
	for _, c := range []*client{first, second} {
		if err := c.get(); err != nil {
			t.Fatal(err)
		}
		opened(t, l, 0, 3)
	}
	n.wants(t)
	third := dial(t, l, "127.0.0.1")
	if err := third.get(); err != nil {
		t.Fatal(err)
	}
	first.gone(t)
	n.wants(t, Address)
	// With two at work, the next one is closed.
	opened(t, l, 0, 3)
	second.begin(t, l, 0)
	third.begin(t, l, 1)
	dial(t, l, "127.0.0.1").gone(t)
	n.wants(t, Address)
	for range 5 {
		if err := dial(t, l, "127.0.0.9").get(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(other.get(), second.end(), third.end()); err != nil {
		t.Error(err)
	}
	// Places are given back.
	second.Close()
	third.Close()
	opened(t, l, 0, 6)
	for range 2 {
		if err := dial(t, l, "127.0.0.1").get(); err != nil {
			t.Error(err)
		}
	}
	n.wants(t)
}

// An IPv6 client is its network of 64 bits.
func TestClient(t *testing.T) {
	l := &Listener{Options: Options{PerAddress: 1, Trusted: clientaddr.Trusted{netip.MustParsePrefix("10.0.0.0/8")}}}
	for remote, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "10.1.2.3": "invalid IP", "::ffff:10.1.2.3": "invalid IP",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:3::1": "2001:db8:1:3::", "fe80::1": "fe80::",
	} {
		if got := l.client(&net.TCPAddr{IP: net.ParseIP(remote)}); got.String() != want {
			t.Errorf("%s is %s, want %s", remote, got, want)
		}
	}
}

// A draining listener still accepts, and each answer ends its connection.
func TestDrain(t *testing.T) {
	l, _ := served(t, Options{Max: 10})
	kept, busy := dial(t, l, "127.0.0.1"), dial(t, l, "127.0.0.1")
	if err := kept.get(); err != nil {
		t.Fatal(err)
	}
	opened(t, l, 0, 2)
	busy.begin(t, l, 0)
	l.Drain()
	next := dial(t, l, "127.0.0.1")
	if err := next.get(); err != nil {
		t.Fatal(err)
	}
	next.gone(t)
	l.CloseIdle()
	kept.gone(t)
	if err := busy.end(); err != nil {
		t.Error(err)
	}
}

// A closed listener gives up the connection that waits for a place, and no other.
func TestClose(t *testing.T) {
	l, server := served(t, Options{Max: 1})
	busy := dial(t, l, "127.0.0.1")
	busy.begin(t, l, 0)
	waiting := dial(t, l, "127.0.0.1")
	fmt.Fprint(waiting, ask)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	waiting.gone(t)
	if err := busy.end(); err != nil {
		t.Error(err)
	}
	server.Close()
}

// Connections that wait in the kernel while a listener is closed are answered.
func TestCloseAcceptsLast(t *testing.T) {
	tcp, err := TCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New(tcp, Options{Max: 3})
	var waiting []*client
	for range 3 {
		waiting = append(waiting, dial(t, l, "127.0.0.1"))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ConnState: l.Track, Handler: http.NotFoundHandler()}
	defer server.Close()
	if err := server.Serve(l); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	for _, c := range waiting {
		if err := c.get(); err == nil || err.Error() != "404 Not Found" {
			t.Error(err)
		}
	}
}

// A multipath socket would lose connections when it is closed.
func TestNoMultipath(t *testing.T) {
	l, err := TCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		protocol, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PROTOCOL)
		if err != nil || protocol != unix.IPPROTO_TCP {
			t.Errorf("protocol %d, %v", protocol, err)
		}
	})
}
