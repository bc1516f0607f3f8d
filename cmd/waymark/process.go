package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/server"
	"github.com/waymarkhq/waymark/internal/store"
)

// process is a running serve.
type process struct {
	*serveCommand
	db      *store.DB
	log     *slog.Logger
	metrics *prometheus.Registry
	failed  chan error
	// addresses are those of links, apiURL where the API listens, and siteURL where browsers
	// reach it.
	addresses       link.Addresses
	apiURL, siteURL string

	listeners    []*listener
	installation *assembly.Installation
	// stops are run in reverse order after those two.
	stops []func() error
}

// start first does what a wrong setting makes fail, so that such a start leaves
// no data folder behind, then opens the installation, starts it and serves.
func (p *process) start(ctx context.Context) error {
	roles := p.roles()
	settings := assembly.Settings{
		Roles: roles, DataDir: p.DataDir, Log: p.log, Metrics: p.metrics,
		Environment: actor.Environment(p.Environment), LimitScale: p.LimitScale,
		CORSOrigins: p.CORSOrigins, TrustedProxies: p.trusted, CountryHeader: p.CountryHeader, JobLease: p.JobLease, ConfirmClock: p.ConfirmClock,
		Engine: p.engine(p.Events),
	}
	var err error
	if settings.Issuer, err = p.issuer(p.log); err != nil {
		return err
	}
	if settings.Outbound, err = p.client(p.DNSResolver); err != nil {
		return err
	}
	settings.Domains = p.domains()
	settings.Domains.Resolver = p.resolver()
	if settings.Domains.Prober, err = p.prober(p.connectIPs); err != nil {
		return err
	}
	settings.Domains.Nameservers, settings.Domains.APIHost = p.DNSNameservers, p.APIHost
	if settings.Domains.Provider, err = p.provider(p.log); err != nil {
		return err
	}
	if roles.Redirect {
		if settings.Countries, err = p.countries(p.log); err != nil {
			return err
		}
	}
	public, err := p.listen("public", "--public-addr", p.PublicAddr, roles.Redirect)
	if err != nil {
		return err
	}
	api, err := p.listen("api", "--api-addr", p.APIAddr, roles.API)
	if err != nil {
		return err
	}
	plain, err := p.listen("http", "--http-addr", p.httpAddr(), p.plain() && (public != nil || p.apiTLS() && api != nil))
	if err != nil {
		return err
	}
	metrics, err := p.listen("metrics", "--metrics-addr", p.MetricsAddr, p.MetricsAddr != "")
	if err != nil {
		return err
	}
	if settings.Tracer, err = p.trace(); err != nil {
		return err
	}
	if err := p.openStorage(ctx); err != nil {
		return err
	}
	if p.PlatformZone == "" && p.ConnectCNAME == "" && len(p.ConnectIPs) == 0 && roles.API {
		p.log.Warn("without --platform-zone, --connect-cname or --connect-ips no domain can be created, and no link " +
			"without a domain")
	}
	if p.DNSProvider != "" && len(p.ConnectIPs) == 0 && roles.API {
		p.log.Warn("without --connect-ips no managed domain can be created, although there is a --dns-provider")
	}
	if len(p.WebhookAllow) > 0 && roles.Executor {
		p.log.Warn("webhooks may reach addresses that are not public", "allowed", p.WebhookAllow)
	}
	p.addresses, p.apiURL = link.Addresses{Scheme: "https"}, "http://"+p.APIAddr
	if p.Dev {
		p.addresses = link.Addresses{Scheme: "http", Port: ":" + port(p.PublicAddr, public)}
	}
	if api != nil {
		p.apiURL = "http://" + reachable(api.tcp.Addr())
	}
	if p.apiTLS() {
		p.apiURL = "https://" + p.APIHost
		if port := port(p.APIAddr, api); port != "443" {
			p.apiURL += ":" + port
		}
	}
	p.siteURL = p.site(port(p.APIAddr, api))
	if p.apiTLS() {
		p.siteURL = cmp.Or(p.APIURL, p.apiURL)
	}
	if settings.APIURL, err = url.Parse(p.siteURL); err != nil {
		return err
	}
	settings.Certificates = p.manager()
	settings.DB, settings.DocsURL = p.db, cmp.Or(p.DocsURL, cmp.Or(p.APIURL, p.apiURL)+"/docs")
	settings.Addresses = p.addresses
	settings.Assets = asset.Addresses{Scheme: p.addresses.Scheme, Port: p.addresses.Port, Host: p.AssetsHost}
	if settings.Blobs, err = p.openBlobs(p.DataDir); err != nil {
		return err
	}
	i, err := assembly.Open(ctx, settings)
	if err != nil {
		return err
	}
	p.installation = i
	if err := i.Start(ctx); err != nil {
		return err
	}
	if public != nil {
		if p.acme() {
			public.tls = i.Certificates.TLS()
		}
		p.serve(public, p.secured(i.Public))
	}
	if api != nil {
		if p.apiTLS() {
			api.tls = i.Certificates.TLS()
		}
		api.wrap = func(c net.Conn) net.Conn { return server.Conn(c, i.Pipeline) }
		p.serve(api, p.secured(i.API))
	}
	if plain != nil {
		p.serve(plain, i.Certificates.Plain())
	}
	if metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(p.metrics, promhttp.HandlerOpts{}))
		mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
		mux.Handle("GET "+readyPath, readiness(i.CheckReady))
		p.serve(metrics, mux)
	}
	return nil
}

// openStorage takes the data folder and opens the database. What is outside this
// machine comes first.
func (p *process) openStorage(ctx context.Context) (err error) {
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
	p.stops = append(p.stops, p.closeDatabase)
	p.db.LogSlow(p.SlowStatement, p.log)
	if p.NoMigrate {
		return usable(ctx, p.db)
	}
	_, err = p.db.Migrate(ctx)
	return err
}

func (p *process) closeDatabase() error {
	if err := p.db.Close(); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}
