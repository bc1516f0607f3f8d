package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/listen"
)

// listeners are the flags that say where serve listens, and behind which proxies.
type listeners struct {
	APIAddr    string `name:"api-addr" default:"127.0.0.1:8080" help:"Where the administrative API listens; default: ${default}." placeholder:"HOST:PORT"`
	PublicAddr string `default:"127.0.0.1:8081" help:"Where the redirector listens for visitors; default: ${default}." placeholder:"HOST:PORT"`
	monitored
	MaxConnections int      `help:"Connections that may be open at once, on all listeners; default: what the limit of open files allows, at most 10000." placeholder:"NUMBER"`
	TrustedProxies []string `help:"Networks of your proxies: their X-Forwarded-For and country headers are believed." placeholder:"CIDR"`

	trusted clientaddr.Trusted
}

func (l *listeners) check() error {
	for _, flag := range []struct{ name, value string }{{"--api-addr", l.APIAddr}, {"--public-addr", l.PublicAddr}} {
		if flag.value == "" {
			return fmt.Errorf("%s is empty; it needs HOST:PORT, such as 127.0.0.1:8080", flag.name)
		}
	}
	for _, text := range l.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return fmt.Errorf("--trusted-proxies: %q is not a network such as 10.0.0.0/8", text)
		}
		l.trusted = append(l.trusted, network.Masked())
	}
	return l.checkConnections()
}

// listener is an address at which the process answers.
type listener struct {
	name string
	tcp  *net.TCPListener
	// tls is how TLS ends here, and wrap wraps connections that speak HTTP/1; may be nil.
	tls  *tls.Config
	wrap func(net.Conn) net.Conn
	// The rest is there once it answers.
	accepting *listen.Listener
	server    *http.Server
	// ended is closed when no more connections come.
	ended chan struct{}
}

// listen opens a listener whose address a flag gave; nil when it is not wanted.
func (p *process) listen(name, flag, addr string, wanted bool) (*listener, error) {
	if !wanted {
		return nil, nil
	}
	l, err := listen.TCP(addr)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("%s %s: %w", flag, addr, err)
	}
	p.listeners = append(p.listeners, &listener{name: name, tcp: l})
	return p.listeners[len(p.listeners)-1], nil
}

// close ends accepting.
func (l *listener) close() {
	if l.accepting != nil {
		l.accepting.Close()
	} else {
		l.tcp.Close()
	}
}

// serve answers requests with h until the process stops.
func (p *process) serve(l *listener, h http.Handler) {
	l.accepting = p.bounded(l)
	l.server = &http.Server{
		Handler: l.accepting.Handler(h), ConnState: l.accepting.Track,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 60 * time.Second,
		IdleTimeout: idleClients, DisableGeneralOptionsHandler: true, MaxHeaderBytes: 32 << 10,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: log.New(connectionLog{p.log}, "", 0),
	}
	if l.name == "public" {
		l.server.IdleTimeout = idleVisitors
	}
	p.log.Info("listening", "what", l.name, "address", l.tcp.Addr().String())
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		if err := l.server.Serve(l.accepting); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("%s listener: %w", l.name, err)
		}
	}()
}

// reachable is an address at which a listener answers on this machine.
func reachable(a net.Addr) string {
	tcp := a.(*net.TCPAddr)
	if tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return tcp.String()
}

// port is that of a listener, or of the address it would have.
func port(addr string, l *listener) string {
	if l != nil {
		return strconv.Itoa(l.tcp.Addr().(*net.TCPAddr).Port)
	}
	_, port, _ := net.SplitHostPort(addr)
	return port
}
