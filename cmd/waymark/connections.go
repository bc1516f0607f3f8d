package main

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/listen"
	"github.com/waymarkhq/waymark/internal/platform"
)

const (
	// maxConnections is how many are open where the descriptors allow them: more take
	// hundreds of MiB.
	maxConnections = 10_000
	// minConnections leaves each listener some.
	minConnections = 20
	// reservedDescriptors are kept for database, click log, images, events and webhooks; half
	// of the descriptors where there are fewer than twice as many.
	reservedDescriptors = 1024
	// maxScrapes bounds the connections of the metrics.
	maxScrapes = 16
	// idleVisitors and idleClients are how long a connection waits for its next request, on
	// the public listener and on the others.
	idleVisitors = 30 * time.Second
	idleClients  = 2 * time.Minute
	// maxStreams bounds the requests that an HTTP/2 connection has under way.
	maxStreams = 100
)

// checkConnections completes --max-connections. The Go runtime has raised the limit of
// descriptors as far as it may.
func (l *listeners) checkConnections() error {
	files, err := platform.OpenFiles()
	if err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	possible := connections(files)
	switch {
	case l.MaxConnections == 0:
		l.MaxConnections = min(possible, maxConnections)
	case l.MaxConnections < minConnections:
		return fmt.Errorf("--max-connections %d is less than %d", l.MaxConnections, minConnections)
	}
	if l.MaxConnections > possible || possible < minConnections {
		return fmt.Errorf("--max-connections %d is too many: this process may open %d files, which is enough for %d; "+
			"raise that limit (ulimit -n, LimitNOFILE)", max(l.MaxConnections, minConnections), files, possible)
	}
	return nil
}

// connections is how many connections there may be with so many descriptors.
func connections(descriptors uint64) int {
	return int(min(descriptors-min(descriptors/2, reservedDescriptors), 1<<30))
}

// share is how many of the connections a listener may have, so that none takes the
// places of another.
func (l *listeners) share(name string) int {
	shares := map[string]int{"api": l.MaxConnections / 5, "http": l.MaxConnections / 10,
		"metrics": min(l.MaxConnections/20+1, maxScrapes)}
	if name == "public" {
		return l.MaxConnections - shares["api"] - shares["http"] - shares["metrics"]
	}
	return shares[name]
}

// bounded returns what accepts the connections of a listener. Visitors and http have
// a quarter of the places for one address.
func (p *process) bounded(l *listener) *listen.Listener {
	o := listen.Options{Max: p.share(l.name), Trusted: p.trusted, TLS: l.tls, Wrap: l.wrap}
	if l.name == "public" || l.name == "http" {
		o.PerAddress = max(1, o.Max/4)
	}
	name := prometheus.Labels{"listener": l.name}
	closed := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waymark_connections_closed_total",
		Help: "Connections that were closed because a listener or an address had too many.", ConstLabels: name}, []string{"bound"})
	for _, bound := range []listen.Bound{listen.Connections, listen.Address} {
		closed.WithLabelValues(string(bound))
	}
	o.Closed = func(bound listen.Bound) { closed.WithLabelValues(string(bound)).Inc() }
	accepting := listen.New(l.tcp, o)
	gauge := func(state string, count func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "waymark_connections",
			Help:        "Open connections, active ones with a request and idle ones that wait for one.",
			ConstLabels: prometheus.Labels{"listener": l.name, "state": state}}, func() float64 { return float64(count()) })
	}
	p.metrics.MustRegister(closed,
		gauge("active", func() int { active, _ := accepting.Open(); return active }),
		gauge("idle", func() int { _, idle := accepting.Open(); return idle }))
	return accepting
}
