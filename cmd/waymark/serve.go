package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/redirect"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/server"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/webhook"
	"github.com/waymarkhq/waymark/internal/weburl"
)

type serveCommand struct {
	storage
	images
	webhooks
	Dev               bool          `help:"Development mode: environment staging, platform zone localhost, links as http with the public port; prints an owner token and the first requests to try."`
	Environment       string        `help:"production or staging: decides which API keys are issued and accepted." placeholder:"NAME"`
	APIAddr           string        `name:"api-addr" default:"127.0.0.1:8080" help:"Listener of the administrative API (${default})." placeholder:"HOST:PORT"`
	PublicAddr        string        `default:"127.0.0.1:8081" help:"Listener of the redirector (${default})." placeholder:"HOST:PORT"`
	MetricsAddr       string        `default:"127.0.0.1:8082" help:"Listener of /metrics (${default}); empty for none." placeholder:"HOST:PORT"`
	Roles             []string      `default:"api,redirect,executor" help:"What this process does: api, redirect, executor (${default})." placeholder:"ROLE"`
	PlatformZone      string        `help:"Zone whose prefixes are platform domains: <prefix>.<zone>." placeholder:"ZONE"`
	OIDCIssuer        string        `name:"oidc-issuer" help:"OpenID Connect issuer of human sessions, beside those that waymark session issue makes." placeholder:"URL"`
	OIDCAudience      string        `name:"oidc-audience" help:"Audience that its tokens must name." placeholder:"NAME"`
	AuthAutoProvision bool          `help:"Create the owner when a session of the OpenID Connect issuer is first seen; without it, waymark users add does."`
	LimitScale        float64       `default:"1" help:"Multiplies every rate window and business limit (${default})." placeholder:"FACTOR"`
	JobLease          time.Duration `default:"30s" help:"For how long an executor claims a job before others may take it over; it renews while it works (${default})." placeholder:"DURATION"`
	Events            string        `default:"database" help:"Event store engine: database." placeholder:"ENGINE"`
	AssetsHost        string        `help:"Hostname under which the redirector serves images; default: assets.<platform zone>." placeholder:"HOST"`
	TrustedProxies    []string      `help:"Networks of the proxies whose X-Forwarded-For and country header are believed." placeholder:"CIDR"`
	CountryHeader     string        `help:"Header in which a trusted proxy tells the visitor's country." placeholder:"NAME"`
	GeoIP             string        `name:"geoip" help:"File in MaxMind's format that tells the country of an address; asked before the country header." placeholder:"FILE"`
	CORSOrigins       []string      `name:"cors-origins" help:"Origins whose pages may call the API." placeholder:"ORIGIN"`
	DocsURL           string        `name:"docs-url" help:"Where documentationUrl of errors points; default: /docs of the API itself." placeholder:"URL"`
	LogLevel          string        `enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error (${default})." placeholder:"LEVEL"`

	trusted   []netip.Prefix
	addresses link.Addresses
	assets    asset.Addresses
}

// check completes the settings and refuses those that cannot work.
func (c *serveCommand) check() error {
	if c.Dev {
		c.Environment = cmp.Or(c.Environment, "staging")
		c.PlatformZone = cmp.Or(c.PlatformZone, "localhost")
	}
	c.Environment = cmp.Or(c.Environment, "production")
	if c.Environment != "production" && c.Environment != "staging" {
		return fmt.Errorf("--environment %q is neither production nor staging", c.Environment)
	}
	if len(c.Roles) == 0 {
		return errors.New("--roles is empty; it needs some of api, redirect, executor")
	}
	for _, role := range c.Roles {
		if !slices.Contains([]string{"api", "redirect", "executor"}, role) {
			return fmt.Errorf("--roles: %q is none of api, redirect, executor", role)
		}
	}
	if c.embedded() && !(c.has("api") && c.has("redirect") && c.has("executor")) {
		return errors.New("--roles: on SQLite one process has all roles; several processes need PostgreSQL")
	}
	for _, flag := range []struct{ name, value string }{{"--api-addr", c.APIAddr}, {"--public-addr", c.PublicAddr}} {
		if flag.value == "" {
			return fmt.Errorf("%s is empty; it needs HOST:PORT, such as 127.0.0.1:8080", flag.name)
		}
	}
	if c.PlatformZone != "" {
		zone, ok := weburl.Hostname(c.PlatformZone)
		if !ok {
			return fmt.Errorf("--platform-zone %q is not a hostname", c.PlatformZone)
		}
		c.PlatformZone = zone
	}
	if c.AssetsHost == "" && c.PlatformZone != "" {
		c.AssetsHost = "assets." + c.PlatformZone
	}
	if c.AssetsHost != "" {
		host, ok := weburl.Hostname(c.AssetsHost)
		if !ok {
			return fmt.Errorf("--assets-host %q is not a hostname", c.AssetsHost)
		}
		c.AssetsHost = host
	}
	if (c.OIDCIssuer == "") != (c.OIDCAudience == "") {
		return errors.New("--oidc-issuer and --oidc-audience go together")
	}
	if !(c.LimitScale > 0 && c.LimitScale <= 1e9) { // also NaN
		return errors.New("--limit-scale must be above 0 and at most 1000000000")
	}
	for _, flag := range []struct{ name, value string }{{"--oidc-issuer", c.OIDCIssuer}, {"--docs-url", c.DocsURL}} {
		if u, err := url.Parse(flag.value); flag.value != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("%s %q is not an http or https URL", flag.name, flag.value)
		}
	}
	c.DocsURL = strings.TrimSuffix(c.DocsURL, "/")
	for _, origin := range c.CORSOrigins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("--cors-origins: %q is not an origin such as https://console.example.com", origin)
		}
	}
	if c.JobLease < time.Second || c.JobLease > time.Hour {
		return fmt.Errorf("--job-lease %s is not between 1s and 1h", c.JobLease)
	}
	if c.Events != "database" {
		return fmt.Errorf("--events %q: this version has the engine database", c.Events)
	}
	for _, text := range c.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return fmt.Errorf("--trusted-proxies: %q is not a network such as 10.0.0.0/8", text)
		}
		c.trusted = append(c.trusted, network.Masked())
	}
	if c.CountryHeader != "" && len(c.trusted) == 0 {
		return errors.New("--country-header needs --trusted-proxies: the header is believed of these alone")
	}
	return c.images.check()
}

func (c *serveCommand) has(role string) bool { return slices.Contains(c.Roles, role) }

// Run serves until the context ends, then drains, flushes and returns.
func (c *serveCommand) Run(ctx context.Context) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	if err := c.checkUnused(); err != nil {
		return err
	}
	p := &process{serveCommand: c, log: log, metrics: prometheus.NewRegistry(), failed: make(chan error, 3)}
	p.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	defer func() { err = errors.Join(err, p.stop()) }()
	err = p.start(ctx)
	if err == nil && c.Dev && p.has("api") {
		err = p.welcome(ctx)
	}
	if err != nil && ctx.Err() == nil { // otherwise it was asked to end before it had begun
		return err
	}
	select {
	case <-ctx.Done():
		log.Info("stopping")
		return nil
	case err := <-p.failed:
		return err
	}
}

// process is a running serve.
type process struct {
	*serveCommand
	db      *store.DB
	blobs   blob.Store
	log     *slog.Logger
	metrics *prometheus.Registry
	// outbound reaches the destinations of webhooks.
	outbound *outbound.Client
	// countries is nil without --geoip.
	countries *redirect.Countries
	failed    chan error

	listeners []*listener
	// apiURL is where the API listens.
	apiURL string
	// stops are run in reverse order once the listeners are drained.
	stops []func() error
}

type listener struct {
	name   string
	net    net.Listener
	server *http.Server
}

// background runs f until the process stops; stop waits for it.
func (p *process) background(f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { f(ctx) })
	p.stops = append(p.stops, func() error {
		cancel()
		done.Wait()
		return nil
	})
}

// start first does what a wrong setting makes fail, so that such a start leaves
// no data folder behind, then opens the installation and starts the roles.
func (p *process) start(ctx context.Context) error {
	var err error
	if p.outbound, err = p.client(); err != nil {
		return err
	}
	if p.GeoIP != "" && p.has("redirect") {
		if p.countries, err = redirect.OpenCountries(p.GeoIP, p.log); err != nil {
			return fmt.Errorf("--geoip: %w", err)
		}
	}
	public, err := p.listen("public", "--public-addr", p.PublicAddr, p.has("redirect"))
	if err != nil {
		return err
	}
	api, err := p.listen("api", "--api-addr", p.APIAddr, p.has("api"))
	if err != nil {
		return err
	}
	metrics, err := p.listen("metrics", "--metrics-addr", p.MetricsAddr, p.MetricsAddr != "")
	if err != nil {
		return err
	}
	if err := p.openInstallation(ctx); err != nil {
		return err
	}
	if p.PlatformZone == "" && api != nil {
		p.log.Warn("without --platform-zone no domain can be created, and no link without a domain")
	}
	p.addresses = link.Addresses{Scheme: "https"}
	if p.Dev {
		p.addresses = link.Addresses{Scheme: "http", Port: ":" + port(p.PublicAddr, public)}
	}
	p.assets = asset.Addresses{Scheme: p.addresses.Scheme, Port: p.addresses.Port, Host: p.AssetsHost}
	if p.blobs, err = p.openBlobs(p.DataDir); err != nil {
		return err
	}
	p.apiURL = "http://" + p.APIAddr
	if api != nil {
		p.apiURL = "http://" + reachable(api.net.Addr())
	}
	p.DocsURL = cmp.Or(p.DocsURL, p.apiURL+"/docs")
	events := eventstore.Open(p.db)
	if public != nil {
		if err := p.startRedirect(ctx, public, events); err != nil {
			return err
		}
	}
	service, kinds, err := newService(ctx, p, events)
	if err != nil {
		return err
	}
	if api != nil {
		p.startAPI(api, service)
	}
	if p.has("executor") {
		if p.embedded() { // the lock of the data folder proves that no other executor lives
			if err := jobs.TakeOver(ctx, p.db); err != nil {
				return err
			}
		}
		e := executor.New(executor.Options{DB: p.db, Log: p.log, Kinds: kinds, Lease: p.JobLease, Observe: newJobMetrics(p.metrics)})
		p.background(e.Run)
		if err := p.startWebhooks(ctx); err != nil {
			return err
		}
		p.background(func(ctx context.Context) { executor.RunSweeps(ctx, p.log, assembly.Sweeps(p.db, events, p.blobs)) })
	}
	p.queue("waymark_jobs_waiting", "waymark_jobs_oldest_seconds", "durable jobs", jobs.Depth)
	p.queue("waymark_webhook_deliveries_waiting", "waymark_webhook_oldest_seconds", "webhook deliveries", webhook.Depth)
	if metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(p.metrics, promhttp.HandlerOpts{}))
		p.serve(metrics, mux)
	}
	return nil
}

// openInstallation takes the data folder and opens the database. What is
// outside this machine comes first.
func (p *process) openInstallation(ctx context.Context) (err error) {
	if !p.embedded() {
		if err := p.openDatabase(ctx); err != nil {
			return err
		}
	}
	if err := p.prepare(); err != nil {
		return err
	}
	if err := p.tidy(); err != nil {
		return err
	}
	if p.embedded() {
		release, err := p.lock()
		if err != nil {
			return err
		}
		p.stops = append(p.stops, func() error { release(); return nil })
		if err := p.openDatabase(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) openDatabase(ctx context.Context) (err error) {
	if p.db, err = p.open(ctx); err != nil {
		return err
	}
	p.stops = append(p.stops, p.db.Close)
	_, err = p.db.Migrate(ctx)
	return err
}

func (p *process) startRedirect(ctx context.Context, l *listener, events *eventstore.Store) error {
	clicks, err := clicklog.Open(filepath.Join(p.DataDir, "clicks"), p.log)
	if err != nil {
		return err
	}
	p.stops = append(p.stops, clicks.Close)
	counter := clickcount.New(p.db, clicks.Inherited, p.log)
	p.background(counter.Run)
	loader := eventstore.NewLoader(clicks, events.Append, counter.Count, p.log)
	p.background(loader.Run)
	p.gauge("waymark_click_log_bytes", "Bytes of clicks that are not in the event store yet.", func() float64 { return float64(clicks.Backlog()) })
	if p.countries != nil {
		p.background(p.countries.Run)
	}
	cache := route.NewCache(p.db, p.log)
	p.background(cache.Follow)
	salts := redirect.NewSalts(p.db, p.log)
	p.background(salts.Run)
	p.serve(l, redirect.New(redirect.Options{
		Cache: cache, Append: clicks.Append, Clicks: counter, Salts: salts, Address: p.addresses.URL,
		TrustedProxies: clientaddr.Trusted(p.trusted), CountryHeader: p.CountryHeader, Countries: p.countries,
		Clock: &clock.Clock{}, Log: p.log, Metrics: p.metrics, Assets: blob.Handler(p.blobs, p.log), AssetsHost: p.AssetsHost,
	}))
	return nil
}

func (p *process) startAPI(l *listener, service *op.Pipeline) {
	p.background(service.Requests.Run)
	p.background(func(ctx context.Context) { service.Auth.Run(ctx, p.log) })
	l.net = server.Listener(l.net, service)
	p.serve(l, server.New(server.Options{
		Service: service, Log: p.log, CORSOrigins: p.CORSOrigins,
		Ready: p.db.Ping,
	}))
}

// listen opens a listener whose address a flag gave.
func (p *process) listen(name, flag, addr string, wanted bool) (*listener, error) {
	if !wanted {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("%s %s: %w", flag, addr, err)
	}
	p.listeners = append(p.listeners, &listener{name: name, net: l})
	return p.listeners[len(p.listeners)-1], nil
}

func (p *process) serve(l *listener, h http.Handler) {
	l.server = &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 60 * time.Second,
		IdleTimeout: 2 * time.Minute, DisableGeneralOptionsHandler: true, MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	p.log.Info("listening", "what", l.name, "address", l.net.Addr().String())
	go func() {
		if err := l.server.Serve(l.net); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("%s listener: %w", l.name, err)
		}
	}()
}

// drainFor bounds how long requests under way may take at the end.
const drainFor = 15 * time.Second

// stop drains the listeners, then ends the rest in reverse order of its start:
// the loader before the click log, everything before the database.
func (p *process) stop() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), drainFor)
	defer cancel()
	var draining sync.WaitGroup
	for _, l := range p.listeners {
		if l.server == nil {
			l.net.Close()
			continue
		}
		draining.Go(func() {
			if err := l.server.Shutdown(ctx); err != nil {
				l.server.Close()
			}
		})
	}
	draining.Wait()
	for _, stop := range slices.Backward(p.stops) {
		err = errors.Join(err, stop())
	}
	return err
}

// reachable is an address at which a listener answers on this machine.
func reachable(a net.Addr) string {
	tcp := a.(*net.TCPAddr)
	if tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return tcp.String()
}

func port(addr string, l *listener) string {
	if l != nil {
		return strconv.Itoa(l.net.Addr().(*net.TCPAddr).Port)
	}
	_, port, _ := net.SplitHostPort(addr)
	return port
}
