// Package assembly is the one list of what the product consists of: every
// capability's operations, kinds of jobs and sweeps. The command line and the
// tests build an installation from it.
package assembly

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/waymarkhq/waymark/internal/account"
	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/apikey"
	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/automation/batches"
	"github.com/waymarkhq/waymark/internal/automation/exports"
	"github.com/waymarkhq/waymark/internal/automation/imports"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/introspect"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/qr"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// Options are what capabilities depend on besides the pipeline.
type Options struct {
	Events       *eventstore.Store
	PlatformZone string
	Addresses    link.Addresses
	// Blobs hold the bytes of images, which Assets addresses.
	Blobs  blob.Store
	Assets asset.Addresses
	// Outbound tells which destinations webhooks may have.
	Outbound *outbound.Client
}

// Declare registers every operation that is there and returns the kinds of jobs
// that they start. The operations of the contract that are still to come are in
// Missing.
func Declare(p *op.Pipeline, o Options) []jobs.Kind {
	links := link.New(o.Addresses, o.Assets)
	account.Register(p)
	apikey.Register(p)
	app.Register(p)
	domain.Register(p, domain.Options{PlatformZone: o.PlatformZone, AssetsHost: o.Assets.Host})
	organize.Register(p, link.PublishCampaign)
	asset.Register(p, o.Assets, o.Blobs)
	links.Register(p)
	qr.Register(p, o.Addresses, o.Blobs)
	webhook.Register(p, o.Outbound)
	works := []durable.Work{batches.Register(p, links), exports.Register(p, links, o.Events), imports.Register(p, links)}
	durable.Register(p, works...)
	analytics.Register(p, o.Events)
	introspect.Register(p)
	kinds := slices.Concat(domain.Jobs(), link.Jobs(), []jobs.Kind{durable.Noop()})
	for _, w := range works {
		kinds = append(kinds, w.Kind())
	}
	return kinds
}

// Sweeps returns what is removed after its retention.
func Sweeps(db *store.DB, events *eventstore.Store, blobs blob.Store) []executor.Sweep {
	const limit = executor.SweepLimit
	return []executor.Sweep{
		{Name: "sessions", Run: func(ctx context.Context) (int64, error) { return actor.SweepSessions(ctx, db, limit) }},
		{Name: "receipts", Run: func(ctx context.Context) (int64, error) { return receipt.Sweep(ctx, db, limit) }},
		{Name: "audit events", Run: func(ctx context.Context) (int64, error) { return audit.Sweep(ctx, db, limit) }},
		{Name: "request records", Run: func(ctx context.Context) (int64, error) { return requestlog.Sweep(ctx, db, limit) }},
		{Name: "operations", Run: func(ctx context.Context) (int64, error) { return durable.Sweep(ctx, db, limit) }},
		{Name: "automation", Run: func(ctx context.Context) (int64, error) { return automation.Sweep(ctx, db, limit) }},
		{Name: "rate windows", Run: func(ctx context.Context) (int64, error) { return ratelimit.Sweep(ctx, db) }},
		{Name: "webhook deliveries", Run: func(ctx context.Context) (int64, error) { return delivery.Sweep(ctx, db, limit) }},
		{Name: "link history", Run: func(ctx context.Context) (int64, error) { return link.Sweep(ctx, db, limit) }},
		{Name: "removed domains", Run: func(ctx context.Context) (int64, error) { return domain.Sweep(ctx, db, limit) }},
		{Name: "click counts", Run: func(ctx context.Context) (int64, error) { return clickcount.Sweep(ctx, db, limit) }},
		{Name: "assets", Run: func(ctx context.Context) (int64, error) { return asset.Sweep(ctx, db, blobs, limit) }},
		{Name: "route changes", Run: func(ctx context.Context) (int64, error) {
			return 0, route.Prune(ctx, db, db.Now().Add(-route.ChangeRetention))
		}},
		{Name: "events", Run: func(ctx context.Context) (int64, error) {
			return events.Sweep(ctx, db.Now().Add(-eventstore.Retention), limit)
		}},
	}
}

// Cursors returns the signer that all processes of an installation share, so
// that a list can continue on another of them.
func Cursors(ctx context.Context, db *store.DB) (*cursor.Signer, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	value, err := db.InstallationValue(ctx, "cursor_key", hex.EncodeToString(fresh))
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	key, err := hex.DecodeString(value)
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	return cursor.NewSigner(key), nil
}
