// Package listen accepts the connections of the HTTP listeners: not more than the
// process can have, and only heads of requests that every program reads alike.
package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clientaddr"
)

const (
	// handshakeTimeout bounds a TLS handshake.
	handshakeTimeout = 10 * time.Second
	// firstFor is how long a new connection has for its first request before another one
	// may take its place.
	firstFor = 500 * time.Millisecond
)

// Bound names what a connection was closed for.
type Bound string

const (
	// Connections is the bound of a listener: its longest idle connection made room.
	Connections Bound = "connections"
	// Address is the bound of a client: its longest idle connection made room, or the
	// new one was closed.
	Address Bound = "address"
)

// Options are what a Listener accepts, and how.
type Options struct {
	// Max bounds the open connections.
	Max int
	// PerAddress bounds those of a client, which is an IPv4 address or an IPv6 network
	// of 64 bits, but for Trusted ones; 0 for no bound.
	PerAddress int
	Trusted    clientaddr.Trusted
	// TLS is how TLS ends here; nil when it does not.
	TLS *tls.Config
	// Wrap wraps connections that speak HTTP/1; may be nil.
	Wrap func(net.Conn) net.Conn
	// Closed is told of each connection that is closed for a bound.
	Closed func(Bound)
}

// Listener accepts the connections of one http.Server, whose ConnState is Track. A full
// one closes the connection that has waited longest for a request. If none does, the
// next one waits until one does or ends, and others behind it in the kernel.
type Listener struct {
	Options
	tcp *net.TCPListener

	mu sync.Mutex
	// open are the connections, the one longest in its state first.
	open      list.List // of *conn
	waiting   int
	addresses map[netip.Addr]int
	closed    bool
	// last are connections that were accepted when l was closed.
	last []*net.TCPConn
	// changed tells that a connection ended or became idle, or that l was closed.
	changed *sync.Cond

	// handshaken are the connections whose handshake is done; nil without TLS.
	handshaken chan accepted
	// draining tells that each answer ends its connection.
	draining atomic.Bool
}

// accepted is what Accept returns.
type accepted struct {
	conn net.Conn
	err  error
}

// TCP listens at an address, HOST:PORT. It leaves out multipath TCP, which Go has by default: Close would
// lose connections of such a socket.
func TCP(address string) (*net.TCPListener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// New returns a Listener that accepts from tcp. Listen with TCP for that.
func New(tcp *net.TCPListener, o Options) *Listener {
	l := &Listener{Options: o, tcp: tcp, addresses: map[netip.Addr]int{}}
	l.changed = sync.NewCond(&l.mu)
	if o.TLS != nil {
		l.handshaken = make(chan accepted)
		go l.handshakes()
	}
	return l
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	if l.handshaken != nil {
		next := <-l.handshaken
		return next.conn, next.err
	}
	c, err := l.accept()
	if err != nil {
		return nil, err
	}
	return l.http1(c), nil
}

// http1 completes a connection that speaks HTTP/1.
func (l *Listener) http1(c closeWriter) net.Conn {
	checked := &checkedConn{closeWriter: c}
	if l.Wrap != nil {
		return l.Wrap(checked)
	}
	return checked
}

// handshakes accepts connections and makes their handshakes, which tell whether they
// speak HTTP/1. net/http makes no other handshake, but tells of one that failed.
func (l *Listener) handshakes() {
	var under sync.WaitGroup
	for {
		c, err := l.accept()
		if errors.Is(err, net.ErrClosed) {
			under.Wait()
			l.handshaken <- accepted{err: err}
			return
		}
		if err != nil { // the server comes again
			l.handshaken <- accepted{err: err}
			continue
		}
		under.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
			defer cancel()
			secure := tls.Server(c, l.TLS)
			next := accepted{conn: secure}
			if err := secure.HandshakeContext(ctx); err == nil {
				switch secure.ConnectionState().NegotiatedProtocol {
				case "", "http/1.1":
					next.conn = l.http1(secure)
				}
			}
			l.handshaken <- next
		})
	}
}

// accept returns the next connection that there is room for.
func (l *Listener) accept() (*conn, error) {
	for {
		tcp, err := l.tcp.AcceptTCP()
		if err != nil {
			if tcp, err = l.lastOne(err); err != nil {
				return nil, err
			}
		}
		c := &conn{TCPConn: tcp, listener: l, client: l.client(tcp.RemoteAddr())}
		if l.enter(c) {
			return c, nil
		}
		tcp.Close()
	}
}

// client returns whose connection it is, the zero Addr for one that is not bounded.
func (l *Listener) client(remote net.Addr) netip.Addr {
	address := remote.(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("")
	if l.PerAddress == 0 || l.Trusted.Contain(address) {
		return netip.Addr{}
	}
	return clientaddr.Network(address)
}

// Handler has h answer. An answer ends its connection when l drains, and when the body of
// its request has a transfer coding: nobody but net/http knows where that ends, so a head
// behind it could not be checked.
func (l *Listener) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.draining.Load() || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// Drain has each answer end its connection. Connections are still accepted.
func (l *Listener) Drain() { l.draining.Store(true) }

// conn is an accepted connection.
type conn struct {
	*net.TCPConn
	listener *Listener
	client   netip.Addr
	// since is when it was accepted.
	since time.Time
	// The rest is guarded by Listener.mu: what the server says of it, and its place
	// among the open ones, nil when it is closed.
	state http.ConnState
	place *list.Element
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.TCPConn.Close()
}

// tracked finds the accepted connection below others.
func tracked(c net.Conn) *conn {
	for {
		switch is := c.(type) {
		case *conn:
			return is
		case interface{ NetConn() net.Conn }:
			c = is.NetConn()
		default:
			return nil
		}
	}
}
