package main

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
)

// newService returns the pipeline of an installation with all its operations,
// and the kinds of the jobs that they start.
func newService(ctx context.Context, p *process, events *eventstore.Store) (*op.Pipeline, []jobs.Kind, error) {
	c, db, log := p.serveCommand, p.db, p.log
	issuers := []*actor.Issuer{actor.LocalIssuer(db)}
	if c.OIDCIssuer != "" {
		issuer := actor.RemoteIssuer(c.OIDCIssuer, c.OIDCAudience, c.AuthAutoProvision)
		issuers = append(issuers, issuer)
		if c.has("api") {
			p.background(func(ctx context.Context) {
				if err := issuer.Connect(ctx); err != nil && ctx.Err() == nil {
					log.Warn("the issuer of --oidc-issuer cannot be reached; calls with its sessions get 503 until it can", "error", err)
				}
			})
		}
	}
	cursors, err := assembly.Cursors(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	// One process serves a SQLite installation, so its counters can stay in
	// memory.
	var limiter ratelimit.Limiter = ratelimit.NewMemory()
	if !c.embedded() {
		limiter = ratelimit.NewDatabase(db)
	}
	trusted := clientaddr.Trusted(c.trusted)
	s := op.New(op.Options{
		DB: db, Auth: actor.NewAuthenticator(db, actor.Environment(c.Environment), issuers...), Limiter: limiter,
		Cursors: cursors, Requests: requestlog.New(db, log), Log: log, LimitScale: c.LimitScale, DocsURL: c.DocsURL,
		ClientAddr: func(r *http.Request) netip.Addr { addr, _ := trusted.Of(r); return addr },
		Observe:    newAPIMetrics(p.metrics).observe,
		SpoolDir:   c.DataDir,
	})
	kinds := assembly.Declare(s, assembly.Options{Events: events, PlatformZone: c.PlatformZone, Addresses: c.addresses, Blobs: p.blobs, Assets: c.assets, Outbound: p.outbound})
	return s, kinds, nil
}
