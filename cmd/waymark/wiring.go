package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/account"
	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/apikey"
	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/diag"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/operation"
	"github.com/waymarkhq/waymark/internal/outbox"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// declare registers every operation of the contract that is there.
func declare(s *op.Service, events *eventstore.Store, zone string, addresses link.Addresses) {
	account.Register(s)
	apikey.Register(s)
	app.Register(s)
	domain.Register(s, domain.Options{PlatformZone: zone})
	link.Register(s, addresses)
	operation.Register(s)
	analytics.Register(s, events)
	diag.Register(s)
}

// kinds returns every kind of job.
func kinds() []jobs.Kind {
	var all []jobs.Kind
	for _, k := range [][]jobs.Kind{domain.Jobs(), link.Jobs()} {
		all = append(all, k...)
	}
	return all
}

// sweeps returns what is removed after its retention.
func sweeps(db *store.DB, events *eventstore.Store) []executor.Sweep {
	const limit = executor.SweepLimit
	return []executor.Sweep{
		{Name: "receipts", Run: func(ctx context.Context) (int64, error) { return receipt.Sweep(ctx, db, limit) }},
		{Name: "audit events", Run: func(ctx context.Context) (int64, error) { return audit.Sweep(ctx, db, limit) }},
		{Name: "request records", Run: func(ctx context.Context) (int64, error) { return requestlog.Sweep(ctx, db, limit) }},
		{Name: "rate windows", Run: func(ctx context.Context) (int64, error) { return ratelimit.Sweep(ctx, db) }},
		{Name: "outbox", Run: func(ctx context.Context) (int64, error) { return outbox.Sweep(ctx, db, limit) }},
		{Name: "route changes", Run: func(ctx context.Context) (int64, error) {
			return 0, route.Prune(ctx, db, db.Now().Add(-route.ChangeRetention))
		}},
		{Name: "events", Run: func(ctx context.Context) (int64, error) {
			return events.Sweep(ctx, db.Now().Add(-eventstore.Retention), limit)
		}},
	}
}

// newService returns the pipeline of an installation with all its operations.
func newService(ctx context.Context, c *serveCommand, db *store.DB, events *eventstore.Store, log *slog.Logger, metrics *apiMetrics) (*op.Service, error) {
	issuer := actor.LocalIssuer(db)
	if c.OIDCIssuer != "" {
		issuer = actor.RemoteIssuer(c.OIDCIssuer, c.OIDCAudience, c.AuthAutoProvision)
	}
	key, err := cursorKey(ctx, db)
	if err != nil {
		return nil, err
	}
	// One process serves a SQLite installation, so its counters can stay in
	// memory.
	var limiter ratelimit.Limiter = ratelimit.NewMemory()
	if !c.embedded() {
		limiter = ratelimit.NewDatabase(db)
	}
	trusted := clientaddr.Trusted(c.trusted)
	s := op.New(op.Options{
		DB: db, Auth: actor.NewAuthenticator(db, actor.Environment(c.Environment), issuer), Limiter: limiter,
		Cursors: cursor.NewSigner(key), Requests: requestlog.New(db, log), Log: log, LimitScale: c.LimitScale, DocsURL: c.DocsURL,
		ClientAddr: func(r *http.Request) netip.Addr { addr, _ := trusted.Of(r); return addr },
		Observe:    metrics.observe,
	})
	declare(s, events, c.PlatformZone, c.addresses)
	return s, nil
}

// cursorKey is shared by all processes, so that a list can continue on another.
func cursorKey(ctx context.Context, db *store.DB) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	value, err := db.InstallationValue(ctx, "cursor_key", hex.EncodeToString(fresh))
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	return hex.DecodeString(value)
}

// apiMetrics count calls of the API.
type apiMetrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newAPIMetrics(r prometheus.Registerer) *apiMetrics {
	m := &apiMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waymark_api_calls_total", Help: "Finished API calls by operation and HTTP status.",
		}, []string{"operation", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "waymark_api_call_seconds", Help: "Duration of API calls by operation.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"operation"}),
	}
	r.MustRegister(m.calls, m.duration)
	return m
}

func (m *apiMetrics) observe(operation string, status int, seconds float64) {
	m.calls.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(operation).Observe(seconds)
}
