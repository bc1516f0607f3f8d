// Package apitest runs a whole installation inside a test: the API behind its
// real listener code, the executor, the redirector and the click log, on the
// engine that the test chooses and with its clock. Every answer of the API is
// checked against the contract by a validator that is not ours.
package apitest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/tracing"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Zone is the platform zone of test installations.
const Zone = "links.example"

// Origin is that of the API in the calls of tests.
const Origin = "https://api.example"

// Installation is a running one.
type Installation struct {
	DB     *store.DB
	Clock  *clock.Clock
	API    http.Handler
	Public http.Handler
	Blobs  blob.Store
	// DataDir is the data folder.
	DataDir string
	// Turns are those of heavy reads.
	Turns *turns.Pool
	// Metrics has the metrics.
	Metrics *prometheus.Registry

	parts *assembly.Installation
}

// Options change what most tests do not care about.
type Options struct {
	// LimitScale is 1000 unless set: most tests are not about windows.
	LimitScale float64
	// CORSOrigins as in the configuration.
	CORSOrigins []string
	// Blobs is the asset store; nil is a folder of the test's.
	Blobs blob.Store
	// Domains are the options of domains; unless set, the platform zone is Zone and
	// owners' hostnames lead to connect.<Zone> or 192.0.2.80.
	Domains domain.Options
	// DNS is the host:port of the DNS server that knows the hostnames of domains; empty
	// is none.
	DNS string
	// Probe tells how those hostnames are probed.
	Probe outbound.ProbeOptions
	// Outbound tells which destinations webhooks may have, and how they are
	// reached.
	Outbound outbound.Options
	// Log receives the log; nil drops it.
	Log io.Writer
	// Database is the address of a database that holds an installation; empty is
	// a new one.
	Database string
	// DataDir is the data folder of that installation; empty is a new one.
	DataDir string
	// Events is the engine of events as --events names it; empty is the default.
	Events string
	// Start is where the clock stands at first; zero is storetest.Start.
	Start clock.Instant
	// Issuer is the OpenID Connect issuer; nil is none.
	Issuer *actor.Issuer
	// APIURL is where browsers reach the API; empty is Origin.
	APIURL string
	// Tracer makes traces; nil makes none.
	Tracer *tracing.Tracer
}

// Each runs f on a fresh installation of each engine.
func Each(t *testing.T, f func(t *testing.T, i *Installation)) {
	EachWith(t, Options{}, f)
}

// EachWith is Each with options.
func EachWith(t *testing.T, o Options, f func(t *testing.T, i *Installation)) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { f(t, New(t, engine, o)) })
	}
}

// New starts an installation that ends with the test.
func New(t testing.TB, engine string, o Options) *Installation {
	t.Helper()
	i := &Installation{Clock: &clock.Clock{}, Blobs: o.Blobs, DataDir: o.DataDir, Metrics: prometheus.NewRegistry()}
	if i.DataDir == "" {
		i.DataDir = t.TempDir()
	}
	i.Clock.Set(cmp.Or(o.Start, storetest.Start))
	i.start(t, engine, o)
	return i
}

func (i *Installation) start(t testing.TB, engine string, o Options) {
	t.Helper()
	if o.LimitScale == 0 {
		o.LimitScale = 1000
	}
	var handler slog.Handler = slog.DiscardHandler
	if o.Log != nil {
		handler = slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	log := slog.New(noRuntimeErrors{handler, t})
	if o.Database == "" {
		o.Database = storetest.Address(t, engine)
	}
	i.DB = storetest.Open(t, o.Database, i.Clock)
	domains := o.Domains
	if domains.PlatformZone == "" {
		domains.PlatformZone = Zone
	}
	if domains.PerApp == 0 {
		domains.PerApp = 100
	}
	if domains.Connection.CNAME == "" {
		domains.Connection = domain.Connection{CNAME: "connect." + Zone,
			Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.80")}}
	}
	domains.Resolver = dnslookup.New(cmp.Or(o.DNS, "127.0.0.1:1"))
	o.Probe.Own = append(o.Probe.Own, domains.Connection.Addresses...)
	domains.Prober = &outbound.Prober{ProbeOptions: o.Probe}
	var err error
	if i.Blobs == nil {
		if i.Blobs, err = blob.Open("file", i.DataDir, blob.Images); err != nil {
			t.Fatal(err)
		}
	}
	address, err := url.Parse(cmp.Or(o.APIURL, Origin))
	if err != nil {
		t.Fatal(err)
	}
	if i.parts, err = assembly.Open(t.Context(), assembly.Settings{
		Options: assembly.Options{
			Domains: domains, Addresses: link.Addresses{Scheme: "https"},
			Blobs: i.Blobs, Assets: asset.Addresses{Scheme: "https", Host: "assets." + Zone},
			Outbound: outbound.New(o.Outbound),
		},
		Engine: assembly.EngineSettings{Address: o.Events},
		DB:     i.DB, Roles: assembly.Roles{API: true, Redirect: true, Executor: true}, DataDir: i.DataDir, Clock: i.Clock,
		Log: log, Metrics: i.Metrics, Tracer: o.Tracer,
		Environment: actor.Staging, LimitScale: o.LimitScale, DocsURL: Origin + "/docs",
		Issuer: o.Issuer, APIURL: address,
		CORSOrigins:    o.CORSOrigins,
		TrustedProxies: clientaddr.Trusted{netip.MustParsePrefix("192.0.2.0/24")}, CountryHeader: "CF-IPCountry",
	}); err != nil {
		t.Fatal(err)
	}
	i.API, i.Public, i.Turns = i.parts.API, i.parts.Public, i.parts.Pipeline.Turns
	// Of the work in the background only the redirector's following of publications
	// runs by itself; tests do the rest step by step.
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { i.parts.Routes.Follow(ctx) })
	t.Cleanup(func() {
		cancel()
		following.Wait()
		if err := i.parts.Close(); err != nil {
			t.Error(err)
		}
	})
}

// FlushUsed stores when credentials were last used.
func (i *Installation) FlushUsed(t testing.TB) {
	t.Helper()
	if err := i.parts.Pipeline.Auth.FlushUsed(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Settle runs the executor until no job is due.
func (i *Installation) Settle(t testing.TB) {
	t.Helper()
	for i.Cycle(t) > 0 {
	}
}

// Cycle runs one cycle of the executor and returns how many jobs it took.
func (i *Installation) Cycle(t testing.TB) int {
	t.Helper()
	n, err := i.CycleIn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// SettleIn is Settle in a context, whose statements can be made to fail. It ends with the first error of a cycle.
func (i *Installation) SettleIn(ctx context.Context) error {
	for {
		if took, err := i.CycleIn(ctx); err != nil || took == 0 {
			return err
		}
	}
}

// CycleIn is Cycle in a context, whose statements can be made to fail.
func (i *Installation) CycleIn(ctx context.Context) (int, error) { return i.parts.Executor.Cycle(ctx) }

// Deliver sends what is due to webhooks until nothing is.
func (i *Installation) Deliver(t testing.TB) {
	t.Helper()
	if err := i.parts.Webhooks.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// CheckDomains verifies the domains whose check is due until none is.
func (i *Installation) CheckDomains(t testing.TB) {
	t.Helper()
	if err := i.parts.Domains.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Sweep removes what is past its retention.
func (i *Installation) Sweep(t testing.TB) {
	t.Helper()
	if err := i.SweepIn(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// SweepIn is Sweep in a context, whose statements can be made to fail.
func (i *Installation) SweepIn(ctx context.Context) error {
	for _, s := range i.parts.Sweeps {
		if _, err := s.Run(ctx, i.DB, executor.SweepLimit); err != nil {
			return fmt.Errorf("sweep of %s: %w", s.Name, err)
		}
	}
	return nil
}

// Record puts events into the click log, which gives them their ids.
func (i *Installation) Record(t testing.TB, events ...clicklog.Event) {
	t.Helper()
	for j := range events {
		if err := i.parts.Record(&events[j]); err != nil {
			t.Fatal(err)
		}
	}
}

// LoadClicks moves what the click log holds to the event store, and counts it.
func (i *Installation) LoadClicks(t testing.TB) {
	t.Helper()
	for {
		moved, err := i.parts.Loader.Move(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if moved == 0 {
			return
		}
	}
}

// Visit asks the redirector as a visitor does, until until is met: the
// redirector follows publications within a moment. A nil until takes the first
// answer.
func (i *Installation) Visit(t testing.TB, address string, header http.Header,
	until func(*http.Response) bool) *http.Response {
	t.Helper()
	deadline := time.Now().Add(storetest.Patience)
	for {
		r := httptest.NewRequest(http.MethodGet, address, nil)
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "+
			"Chrome/140.0.0.0 Safari/537.36")
		for name, values := range header {
			r.Header[name] = values
		}
		w := httptest.NewRecorder()
		i.Public.ServeHTTP(w, r)
		if until == nil || until(w.Result()) {
			return w.Result()
		}
		if time.Now().After(deadline) {
			t.Fatalf("GET %s still answers %d %v", address, w.Code, w.Header())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Client calls the API with one credential.
type Client struct {
	t          testing.TB
	i          *Installation
	Credential string
	// AppID and Host are those of Prepared.
	AppID, Host string
}

// Owner returns a client with a new session of an owner.
func (i *Installation) Owner(t testing.TB, email string) *Client {
	t.Helper()
	token, err := actor.IssueSession(context.Background(), i.DB, i.DataDir, email)
	if err != nil {
		t.Fatal(err)
	}
	return i.Client(t, token)
}

// Client returns a client with any credential.
func (i *Installation) Client(t testing.TB, credential string) *Client {
	return &Client{t: t, i: i, Credential: credential}
}

// Prepared returns an owner with an app and a domain that is ready.
func (i *Installation) Prepared(t testing.TB, email string) *Client {
	t.Helper()
	c := i.Owner(t, email)
	prefix, _, _ := strings.Cut(email, "@")
	c.Prepare(prefix)
	return c
}

// Prepare gives the client a new app with a domain of the platform that is ready.
func (c *Client) Prepare(prefix string) {
	c.t.Helper()
	c.AppID = c.Call("POST", "/apps", M{"name": "App"}).Want(201).Text("data.id")
	c.Call("POST", "/domains", M{"appId": c.AppID, "mode": "platform", "prefix": prefix}).Want(202)
	c.Host = prefix + "." + Zone
	c.i.Settle(c.t)
}

// Key issues a key for the client's app and returns a client that uses it.
func (c *Client) Key(permissions ...string) *Client {
	c.t.Helper()
	r := c.Call("POST", "/api-keys", M{"name": "key", "appIds": []string{c.AppID}, "permissions": permissions}).
		Want(201)
	k := c.i.Client(c.t, r.Text("data.secret"))
	k.AppID, k.Host = c.AppID, c.Host
	return k
}

// Link creates a link on the client's domain and returns its answer.
func (c *Client) Link(slug string, more M, with ...With) *Response {
	c.t.Helper()
	body := M{"appId": c.AppID, "domain": c.Host, "slug": slug, "desktopUrl": "https://example.com/" + slug}
	for name, value := range more {
		body[name] = value
	}
	return c.Call("POST", "/links", body, with...)
}

// M is a JSON object.
type M map[string]any

// With changes a request before it is sent.
type With func(*http.Request)

// Header sets a header; an empty value removes it.
func Header(name, value string) With {
	return func(r *http.Request) {
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
}

// IfMatch sends a revision.
func IfMatch(revision string) With { return Header("If-Match", `"`+revision+`"`) }

// Idempotent sends an idempotency key; without it each call has its own.
func Idempotent(key string) With { return Header("Idempotency-Key", key) }

// NewKey returns a fresh idempotency key.
func NewKey() string { return uuid.NewString() }

// Call calls an operation. body is nil, raw text, or what json.Marshal takes.
func (c *Client) Call(method, path string, body any, with ...With) *Response {
	c.t.Helper()
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	default:
		var err error
		if text, err = json.Marshal(body, json.Deterministic(true)); err != nil {
			c.t.Fatal(err)
		}
	}
	with = append([]With{Header("Content-Type", "application/json")}, with...)
	if body == nil {
		return c.send(method, path, nil, with[1:])
	}
	return c.send(method, path, bytes.NewReader(text), with)
}

// send sends a call with any body, nil for none.
func (c *Client) send(method, path string, body io.Reader, with []With) *Response {
	c.t.Helper()
	target := path
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "/v1") && !strings.HasPrefix(path, "/auth/") &&
		!strings.HasPrefix(path, "//") {
		target = op.BasePath + path
	}
	r := httptest.NewRequest(method, Origin+target, body)
	r.RemoteAddr = "203.0.113.7:4711"
	if body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	if c.Credential != "" {
		r.Header.Set("Authorization", "Bearer "+c.Credential)
	}
	if method != http.MethodGet && method != http.MethodHead {
		r.Header.Set("Idempotency-Key", uuid.NewString())
	}
	for _, w := range with {
		w(r)
	}
	recorder := httptest.NewRecorder()
	c.i.API.ServeHTTP(recorder, r)
	response := &Response{t: c.t, call: method + " " + path, Status: recorder.Code, Header: recorder.Header(),
		Body: recorder.Body.Bytes()}
	response.check(r, recorder)
	return response
}

// Path escapes an id for a path.
func Path(id string) string { return strings.TrimPrefix(op.Location(id), op.BasePath+"/") }
