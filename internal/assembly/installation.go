package assembly

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/browser"
	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/redirect"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/server"
	"github.com/waymarkhq/waymark/internal/signin"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/tracing"
	"github.com/waymarkhq/waymark/internal/turns"
	"github.com/waymarkhq/waymark/internal/visitor"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// Roles say what a process does. On SQLite one process has all of them.
type Roles struct{ API, Redirect, Executor bool }

// Settings are what an Installation is opened with.
type Settings struct {
	// Options are the options of the capabilities; Open sets Events, and Installation and
	// Observe of Domains.
	Options
	// DB is migrated. It stays open when the Installation is closed.
	DB    *store.DB
	Roles Roles
	// DataDir is the folder of the click log and of uploads on their way.
	DataDir string
	// Engine says where events are kept.
	Engine EngineSettings
	// Clock is the clock of DB; nil means the clock of the machine.
	Clock *clock.Clock
	Log   *slog.Logger
	// Metrics registers the metrics; may be nil.
	Metrics prometheus.Registerer
	// Tracer traces calls, jobs, deliveries and visits; nil traces none.
	Tracer *tracing.Tracer

	// Environment decides which API keys are issued and accepted.
	Environment actor.Environment
	// Issuer issues human sessions, besides the local issuer; nil for none.
	Issuer *actor.Issuer
	// APIURL is where browsers reach the API, a scheme and a host; nil where the process has
	// none.
	APIURL *url.URL
	// LimitScale multiplies every rate window and business limit.
	LimitScale float64
	// DocsURL is where the API's documentation is, without a slash at its end.
	DocsURL string
	// CORSOrigins may call the API from a browser.
	CORSOrigins []string
	// TrustedProxies are the peers whose X-Forwarded-For and CountryHeader are
	// believed.
	TrustedProxies clientaddr.Trusted
	// CountryHeader is the header in which a trusted proxy tells the visitor's
	// country; may be empty.
	CountryHeader string
	// Countries is asked before that header; may be nil.
	Countries *visitor.Countries
	// Certificates are the options of certificates; nil when TLS ends in front of the
	// listeners. Open sets DB, Log, Serves, Ready, MayOrder, Zone, Provider and Metrics.
	Certificates *certificate.Options
	// JobLease is for how long an executor claims a job; 0 means jobs.Lease.
	JobLease time.Duration
	// ConfirmClock: the clock is right, although it moved more than a day since the last
	// sweep.
	ConfirmClock bool
}

// Installation is what one process runs of an installation: the handlers of its
// listeners, and the work in its background. Fields of a role that the process
// does not have are nil.
//
// Open makes it, Start starts the background, Close ends both. Tests leave Start
// out and do its work step by step.
type Installation struct {
	// Pipeline has all operations.
	Pipeline *op.Pipeline
	// API answers on the API listener, Public on the listener for visitors.
	API, Public http.Handler
	// Routes, Loader and Unstored belong to the redirector, Executor, Webhooks and Domains to the
	// executor.
	Routes   *route.Cache
	Loader   *eventstore.Loader
	Unstored *eventstore.Unstoring
	Executor *executor.Executor
	Webhooks *webhook.Dispatcher
	Domains  *domain.Checker
	// Certificates gives listeners their TLS; nil when it ends in front of them.
	Certificates *certificate.Manager
	// Sweeps remove what is past its retention.
	Sweeps []part.Sweep

	settings Settings
	clicks   *clicklog.Log
	salts    *visitor.Salts
	engine   eventstore.Engine
	// draining tells that the process ends.
	draining atomic.Bool
	// loops are the work in the background, in the order of their start.
	loops []func(context.Context)
	// stops end the loops that run.
	stops []func()
}

// Open puts an installation together. Nothing runs yet.
func Open(ctx context.Context, s Settings) (*Installation, error) {
	s.Clock = cmp.Or(s.Clock, &clock.Clock{})
	if err := s.DB.CheckRestored(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.Domains.Installation, err = s.DB.InstallationValue(ctx, "installation_id", rand.Text()); err != nil {
		return nil, fmt.Errorf("installation id: %w", err)
	}
	if _, err := s.DB.Epoch(ctx); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	s.Domains.Observe = observeVerifications(s.Metrics)
	i := &Installation{settings: s}
	if err := i.openPipeline(ctx); err != nil {
		return nil, err
	}
	i.openCertificates()
	if err := i.openEvents(ctx); err != nil {
		return nil, err
	}
	parts := Declare(i.Pipeline, i.settings.Options)
	if s.Roles.API {
		if err := i.openAPI(ctx); err != nil {
			return nil, errors.Join(err, CloseEngine(i.engine))
		}
	}
	if s.Roles.Executor {
		i.openExecutor(parts)
	}
	if s.Roles.Redirect {
		if err := i.openRedirect(); err != nil {
			return nil, errors.Join(err, CloseEngine(i.engine))
		}
	} else { // the redirector looks itself
		i.loops = append(i.loops, func(ctx context.Context) { s.DB.Watch(ctx, s.Log) })
	}
	i.counter("waymark_database_retries_total", "Transactions that lost a race in the database and were run again.",
		s.DB.Retries)
	i.gauge("waymark_database_log_bytes", "Size of SQLite's write-ahead log; 0 on PostgreSQL.",
		func() float64 { return float64(s.DB.LogBytes()) })
	if s.Metrics != nil {
		s.Metrics.MustRegister(newPoolMetrics(s.DB))
	}
	i.queue("waymark_jobs_waiting", "waymark_jobs_oldest_seconds", "durable jobs", jobs.Depth)
	i.queue("waymark_webhook_deliveries_waiting", "waymark_webhook_oldest_seconds", "webhook deliveries",
		delivery.Depth)
	return i, nil
}

// embedded reports whether the process is alone with its database: its counters
// can stay in memory, and no other executor lives.
func (s *Settings) embedded() bool { return s.DB.Dialect().Name == "sqlite" }

// openPipeline makes the pipeline, without operations.
func (i *Installation) openPipeline(ctx context.Context) error {
	s := &i.settings
	cursors, err := cursors(ctx, s.DB)
	if err != nil {
		return err
	}
	var limiter ratelimit.Limiter = ratelimit.NewMemory()
	if !s.embedded() {
		limiter = ratelimit.NewDatabase(s.DB)
	}
	issuers := []*actor.Issuer{actor.LocalIssuer(s.DB.Urgent())}
	if s.Issuer != nil {
		issuers = append(issuers, s.Issuer)
	}
	var site browser.Site
	if s.APIURL != nil {
		site = browser.NewSite(s.APIURL)
	}
	i.Pipeline = op.New(op.Options{
		Site: site, DB: s.DB, Auth: actor.NewAuthenticator(s.DB.Urgent(), s.Environment, issuers...), Limiter: limiter,
		Cursors: cursors, Requests: requestlog.New(s.DB, s.Log), Log: s.Log, LimitScale: s.LimitScale,
		DocsURL:    s.DocsURL,
		ClientAddr: func(r *http.Request) netip.Addr { addr, _ := s.TrustedProxies.Of(r); return addr },
		SpoolDir:   s.DataDir,
		Tracer:     s.Tracer,
		Observe:    observeCalls(s.Metrics),
		Turns:      turns.New(s.DB.LongReads()),
	})
	i.calls(i.Pipeline)
	i.turns("waymark_list_reads_", "Reads of lists with filters that may search for long, and of exports of links,", i.Pipeline.Turns)
	return nil
}

// cursors returns the signer that all processes of an installation share, so that
// a list can continue on another of them.
func cursors(ctx context.Context, db *store.DB) (*cursor.Signer, error) {
	key, err := sharedKey(ctx, db, "cursor_key")
	return cursor.NewSigner(key), err
}

// sharedKey returns a secret key that all processes of an installation share.
func sharedKey(ctx context.Context, db *store.DB, name string) (key []byte, err error) {
	defer fault.Wrap(&err, "key %s", name)
	fresh := make([]byte, 32)
	rand.Read(fresh)
	value, err := db.InstallationValue(ctx, name, hex.EncodeToString(fresh))
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(value)
}

// openCertificates makes the manager of certificates, which domains ask for theirs.
func (i *Installation) openCertificates() {
	s := &i.settings
	if s.Certificates == nil {
		return
	}
	o := *s.Certificates
	o.DB, o.Log, o.Zone, o.Provider, o.Metrics = s.DB, s.Log, s.Domains.PlatformZone, s.Domains.Provider, s.Metrics
	if s.Roles.Redirect {
		o.Serves = func(hostname string) bool { return i.Routes.Serves(hostname) }
		o.Ready = func() bool { return i.Routes.Ready() }
		o.MayOrder = func(ctx context.Context, hostname string) bool {
			if strings.HasSuffix(hostname, "."+o.Zone) {
				return true // the DNS of the platform zone leads here
			}
			host, err := i.Routes.Host(ctx, hostname)
			return err == nil && host != nil && host.Connected
		}
	}
	i.Certificates = certificate.New(o)
	s.Domains.Certify = i.Certificates.Obtain
	i.loops = append(i.loops, i.Certificates.Run)
}

func (i *Installation) openAPI(ctx context.Context) error {
	s := &i.settings
	key, err := sharedKey(ctx, s.DB, "entry_key")
	if err != nil {
		return err
	}
	people, err := signin.New(signin.Options{Service: i.Pipeline, Issuer: s.Issuer, Key: key, Log: s.Log})
	if err != nil {
		return err
	}
	issuer := ""
	if s.Issuer != nil {
		issuer = s.Issuer.URL
	}
	i.API = server.New(server.Options{Service: i.Pipeline, SignIn: people, IssuerURL: issuer, AssetsURL: s.Assets.URL(""), Log: s.Log,
		CORSOrigins: s.CORSOrigins, Ready: i.ready})
	if s.Issuer != nil {
		i.loops = append(i.loops, func(ctx context.Context) {
			if err := s.Issuer.Connect(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("the issuer of --oidc-issuer cannot be reached; calls with its sessions get 503 until it can",
					"error", err)
			}
		})
	}
	i.loops = append(i.loops, i.Pipeline.Requests.Run, func(ctx context.Context) { i.Pipeline.Auth.Run(ctx, s.Log) })
	return nil
}

func (i *Installation) openExecutor(parts []part.Part) {
	s := &i.settings
	var kinds []jobs.Kind
	for _, p := range parts {
		kinds, i.Sweeps = append(kinds, p.Kinds...), append(i.Sweeps, p.Sweeps...)
	}
	i.Executor = executor.New(executor.Options{
		DB: s.DB, Log: s.Log, Kinds: kinds, Lease: s.JobLease, Tracer: s.Tracer, Observe: observeJobs(s.Metrics, kinds),
	})
	i.Webhooks = webhook.New(s.DB, s.Outbound, s.Log, s.Metrics)
	i.Webhooks.Tracer = s.Tracer
	i.Domains = domain.NewChecker(s.DB, s.Domains, s.Log)
	i.loops = append(i.loops, i.engine.Run, i.Executor.Run, i.Webhooks.Run, i.Domains.Run, func(ctx context.Context) {
		executor.RunSweeps(ctx, s.DB, s.Log, i.Sweeps, s.ConfirmClock)
	})
}

func (i *Installation) openRedirect() (err error) {
	s := &i.settings
	if i.clicks, err = clicklog.Open(filepath.Join(s.DataDir, "clicks"), s.Log); err != nil {
		return fmt.Errorf("open the click log: %w", err)
	}
	i.gauge("waymark_click_log_bytes", "Bytes of clicks that are not in the event store yet.", func() float64 {
		return float64(i.clicks.Backlog())
	})
	i.counter("waymark_click_log_lost_bytes_total", "Bytes of clicks in the click log that were damaged or whose file was removed.",
		i.clicks.Lost)
	counter := clickcount.New(s.DB.Urgent(), i.clicks.Inherited, s.Log)
	i.salts = visitor.NewSalts(s.DB, s.Log)
	i.Loader = eventstore.NewLoader(i.clicks, s.Events.Append, counter.Count, s.Engine.loadSize(), s.Log)
	i.gauge("waymark_event_lag_seconds", "Age of the oldest visit that is being moved to the engine of events.", func() float64 {
		if at := i.Loader.Oldest(); at != 0 {
			return max(0, s.DB.Now().Sub(at).Seconds())
		}
		return 0
	})
	i.Unstored = eventstore.NewUnstoring(s.DB, s.Log)
	i.Routes = route.NewCache(s.DB.Urgent(), s.Log)
	visits := redirect.New(redirect.Options{
		Cache: i.Routes, DB: s.DB.Urgent(), LimitScale: s.LimitScale, Append: i.clicks.Append, Unstored: i.Unstored.Add, Clicks: counter, Salts: i.salts, Ready: i.Ready, Address: s.Addresses.URL,
		Visitors: visitor.New(visitor.Options{
			TrustedProxies: s.TrustedProxies, CountryHeader: s.CountryHeader, Countries: s.Countries,
		}),
		Installation: s.Domains.Installation, Clock: s.Clock, Log: s.Log, Tracer: s.Tracer, Metrics: s.Metrics,
		Assets: blob.Handler(s.Blobs, s.Log), AssetsHost: s.Assets.Host,
	})
	i.Public = visits
	i.loops = append(i.loops, counter.Run, i.Loader.Run, i.Unstored.Run, i.Routes.Follow, i.salts.Run, visits.Run)
	if s.Countries != nil {
		i.loops = append(i.loops, s.Countries.Run)
	}
	return nil
}

// ready is what the API listener tells of its readiness.
func (i *Installation) ready(ctx context.Context) error {
	if i.draining.Load() {
		return errEnding
	}
	return i.settings.DB.Urgent().Ping(ctx)
}

// errEnding tells that the process takes no more work.
var errEnding = errors.New("the process ends")

// CheckReady returns why the process cannot do the work of all its roles, nil when it can. A process
// that only redirects goes on while the database is away.
func (i *Installation) CheckReady(ctx context.Context) error {
	roles := i.settings.Roles
	switch {
	case i.draining.Load():
		return errEnding
	case roles.Redirect && !i.Ready():
		return errors.New("the redirector has not read its routes yet")
	case roles.API || roles.Executor:
		return i.ready(ctx)
	}
	return nil
}

// Ready reports whether the redirector can answer visitors, and as other processes do.
func (i *Installation) Ready() bool {
	return !i.draining.Load() && i.Routes.Ready() && i.salts.Ready()
}

// Drain has the listeners tell from now on that the process is not ready, as it ends.
func (i *Installation) Drain() { i.draining.Store(true) }

// readyFor bounds how long a starting redirector waits for a database that is away.
const readyFor = 5 * time.Second

// Start starts the work in the background. A redirector is ready then, unless the database
// is away. It may be called once.
func (i *Installation) Start(ctx context.Context) error {
	if db := i.settings.DB; i.settings.Roles.Executor && i.settings.embedded() {
		if err := certificate.TakeOver(ctx, db); err != nil {
			return fmt.Errorf("take over locks of certificates: %w", err)
		}
		if err := jobs.TakeOver(ctx, db); err != nil {
			return fmt.Errorf("take over jobs: %w", err)
		}
		if err := delivery.TakeOver(ctx, db); err != nil {
			return fmt.Errorf("take over webhook deliveries: %w", err)
		}
	}
	for _, run := range i.loops {
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { run(ctx) })
		i.stops = append(i.stops, func() { cancel(); done.Wait() })
	}
	if i.settings.Roles.Redirect {
		i.awaitReady(ctx)
	}
	return nil
}

// awaitReady waits until the redirector is ready, for readyFor at most.
func (i *Installation) awaitReady(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyFor)
	defer cancel()
	for !i.Ready() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Record puts an event into the click log, as the redirector does.
func (i *Installation) Record(e *clicklog.Event) error { return i.clicks.Append(e) }

// Close ends the work in the background in the reverse order of its start, and
// then the click log and the engine of events. The listeners must be drained before.
func (i *Installation) Close() (err error) {
	for _, stop := range slices.Backward(i.stops) {
		stop()
	}
	if i.Certificates != nil {
		i.Certificates.Close()
	}
	if i.clicks != nil {
		if err = i.clicks.Close(); err != nil {
			err = fmt.Errorf("close the click log: %w", err)
		}
	}
	if closing := CloseEngine(i.engine); closing != nil {
		err = errors.Join(err, fmt.Errorf("close the engine of events: %w", closing))
	}
	return err
}
