package main

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Half of few descriptors are kept for the rest of the program, of many a fixed number, and
// every listener has places.
func TestConnections(t *testing.T) {
	for descriptors, want := range map[uint64]int{200: 100, 2048: 1024, 2050: 1026, 4096: 3072} {
		if got := connections(descriptors); got != want {
			t.Errorf("%d descriptors are enough for %d connections, want %d", descriptors, got, want)
		}
	}
	for most, want := range map[int][4]int{20: {12, 4, 2, 2}, 10_000: {6984, 2000, 1000, 16}} {
		l := listeners{MaxConnections: most}
		if got := [4]int{l.share("public"), l.share("api"), l.share("http"), l.share("metrics")}; got != want {
			t.Errorf("%d connections are shared as %d, want %d", most, got, want)
		}
	}
}

// Each listener waits for the next request of a connection, and an HTTP/2 connection has
// requests under way, as docs/operating.md says.
func TestBoundsOfConnections(t *testing.T) {
	for name, idle := range map[string]time.Duration{"public": 30 * time.Second, "api": 2 * time.Minute,
		"http": 2 * time.Minute} {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := &listener{name: name, tcp: tcp.(*net.TCPListener)}
		p := &process{serveCommand: &serveCommand{}, log: slog.New(slog.DiscardHandler), metrics: prometheus.NewRegistry()}
		p.MaxConnections = 100
		p.serve(l, http.NotFoundHandler())
		if l.server.IdleTimeout != idle || l.server.HTTP2.MaxConcurrentStreams != 100 {
			t.Errorf("%s: a connection waits for %s, %d requests of HTTP/2", name, l.server.IdleTimeout,
				l.server.HTTP2.MaxConcurrentStreams)
		}
		if err := l.server.Close(); err != nil {
			t.Error(err)
		}
		<-l.ended
	}
}
