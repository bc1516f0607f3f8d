package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	hostname = "go.example.com"
	app      = "app_simulated"
)

// proxy is the peer whose headers tell where visitors are.
var proxy = netip.MustParseAddr("127.0.0.1")

// installation is one on SQLite, in a folder of its own. Its events are where their address says.
type installation struct {
	*assembly.Installation
	dir     string
	db      *store.DB
	clock   *clock.Clock
	metrics *prometheus.Registry
}

// begins is midnight of the first day, a Monday.
var begins = clock.At(time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC))

// open starts an installation with the events in an engine, such as "segments".
func open(events string) (_ *installation, err error) {
	i := &installation{clock: &clock.Clock{}, metrics: prometheus.NewRegistry()}
	i.clock.Move(begins.Sub(i.clock.Now()))
	if i.dir, err = os.MkdirTemp("", "waymark-simulate-"); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if i.db, err = store.Open(ctx, "sqlite:"+filepath.Join(i.dir, "waymark.db"), i.clock); err != nil {
		return nil, err
	}
	if _, err := i.db.Migrate(ctx); err != nil {
		return nil, err
	}
	blobs, err := blob.Open("file", i.dir, blob.Images)
	if err != nil {
		return nil, err
	}
	if i.Installation, err = assembly.Open(ctx, assembly.Settings{
		Options: assembly.Options{
			Domains: domain.Options{PlatformZone: "example.com", PerApp: 1, Resolver: dnslookup.New("127.0.0.1:1"),
				Prober: &outbound.Prober{}},
			Addresses: link.Addresses{Scheme: "https"}, Blobs: blobs, Assets: asset.Addresses{Scheme: "https"},
			Outbound: outbound.New(outbound.Options{}),
		},
		Engine: assembly.EngineSettings{Address: events},
		DB:     i.db, Roles: assembly.Roles{API: true, Redirect: true, Executor: true}, DataDir: i.dir, Clock: i.clock,
		// It would tell of a clock that jumps. What is lost is seen at the end.
		Log: slog.New(slog.DiscardHandler), Metrics: i.metrics,
		Environment: actor.Staging, LimitScale: 1000, DocsURL: "https://example.com/docs",
		TrustedProxies: clientaddr.Trusted{netip.PrefixFrom(proxy, 32)}, CountryHeader: "CF-IPCountry",
	}); err != nil {
		return nil, err
	}
	return i, i.Start(ctx)
}

func (i *installation) close() error {
	return errors.Join(i.Close(), i.db.Close(), os.RemoveAll(i.dir))
}

// publish makes links, as the executor does once an owner made them.
func (i *installation) publish(n int) error {
	const together = 5000
	ctx := context.Background()
	for from := 0; from < n; from += together {
		if err := i.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
			p, err := route.Lock(ctx, tx)
			if err == nil && from == 0 {
				err = p.PutHost(ctx, hostname, "1", route.Host{DomainID: "dom_1", AppID: app, AppName: "App", Connected: true})
			}
			if err != nil {
				return err
			}
			var some []route.LinkRoute
			for k := from; k < min(n, from+together); k++ {
				some = append(some, route.LinkRoute{Hostname: hostname, Path: slug(k), Revision: "1", Link: route.Link{
					LinkID: fmt.Sprintf("%s:0198b3d2-6f0e-7c3a-9a51-%012x", hostname, k), AppID: app, Slug: slug(k), Group: "main",
					Title: "A link of the simulation", DesktopURL: destination(k), WebOnly: true}})
			}
			return p.PutLinks(ctx, some)
		}); err != nil {
			return fmt.Errorf("publish links: %w", err)
		}
	}
	return nil
}

func slug(k int) string { return fmt.Sprintf("spring-offer-%d", k) }

func destination(k int) string { return fmt.Sprintf("https://www.example.com/shop/item/%d", k) }

// awaitLoaded waits until all clicks are in the event store, and tells how long that took.
func (i *installation) awaitLoaded() (time.Duration, error) {
	const patience = 10 * time.Minute
	began := time.Now()
	for {
		waiting, err := i.gauge("waymark_click_log_bytes")
		if err != nil || waiting == 0 {
			return time.Since(began), err
		}
		if time.Since(began) > patience {
			return 0, fmt.Errorf("%.0f bytes of clicks are not loaded after %s", waiting, patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (i *installation) gauge(name string) (float64, error) {
	families, err := i.metrics.Gather()
	if err != nil {
		return 0, err
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue(), nil
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// sealed waits until the events of all days are in files, and returns how many they are.
func (i *installation) sealed() (all int64, err error) {
	const patience = 5 * time.Minute
	ctx := context.Background()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		young, err := store.One(ctx, i.db, store.Value[int64], "SELECT COUNT(*) FROM event_segment WHERE data IS NOT NULL")
		if err != nil {
			return 0, err
		}
		if young == 0 {
			break
		}
		if time.Since(began) > patience {
			return 0, fmt.Errorf("%d young segments are not merged after %s", young, patience)
		}
		i.clock.Move(time.Hour)
	}
	// What was merged goes once nobody can read it any more.
	i.clock.Move(25 * time.Hour)
	time.Sleep(3 * time.Second)
	return store.One(ctx, i.db, store.Value[int64], "SELECT COALESCE(SUM(events), 0) FROM event_segment")
}

// reading is what the process has taken so far.
type reading struct {
	at                             time.Time
	cpu                            time.Duration
	memory, peak, events, database int64
}

func (i *installation) measure() (r reading, err error) {
	r.at = time.Now()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return r, err
	}
	r.cpu = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return r, err
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			r.memory = kib << 10
		case "VmHWM":
			r.peak = kib << 10
		}
	}
	err = filepath.WalkDir(i.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err != nil {
			return ignoreGone(err)
		}
		switch {
		case strings.HasSuffix(path, ".parquet"):
			r.events += info.Size()
		case strings.HasPrefix(entry.Name(), "waymark.db"):
			r.database += info.Size()
		}
		return nil
	})
	return r, err
}

// ignoreGone ignores that a file went while the folder was read.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
