package clickhousetest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Relay stands between a program and a server, as a network that may fail.
type Relay struct {
	address, server string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	// lose is how many more bytes go to the server before its answers are lost; 0 loses
	// none.
	lose int
}

// NewRelay returns a relay to the server of an address, down, and the address with the
// relay in its place. It ends with the test.
func NewRelay(t testing.TB, address string) (*Relay, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{address: l.Addr().String(), server: u.Host}
	u.Host = r.address
	t.Cleanup(r.Down)
	return r, u.String()
}

// Up makes the server reachable.
func (r *Relay) Up(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.listener = l
	r.mu.Unlock()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", r.server)
			if err != nil {
				client.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, client, server)
			r.mu.Unlock()
			go r.copy(server, client, true)
			go r.copy(client, server, false)
		}
	}()
}

// Down cuts everything off.
func (r *Relay) Down() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		r.listener.Close()
	}
	for _, c := range r.conns {
		c.Close()
	}
	r.listener, r.conns, r.lose = nil, nil, 0
}

// LoseAnswers makes the relay lose what the server says once it got some more bytes.
func (r *Relay) LoseAnswers(after int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose = after
}

// Asked reports whether somebody is connected.
func (r *Relay) Asked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns) > 0
}

// copy forwards what from says to to.
func (r *Relay) copy(to, from net.Conn, toServer bool) {
	defer to.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		r.mu.Lock()
		if toServer && r.lose > 0 {
			r.lose = max(r.lose-n, 1) // 1: all that may pass has passed
		}
		lost := !toServer && r.lose == 1
		r.mu.Unlock()
		if lost {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
