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
	"github.com/waymarkhq/waymark/internal/batch"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/diag"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/exports"
	"github.com/waymarkhq/waymark/internal/imports"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/operation"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/outbox"
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
func Declare(s *op.Service, o Options) []jobs.Kind {
	links := link.New(o.Addresses, o.Assets)
	account.Register(s)
	apikey.Register(s)
	app.Register(s)
	domain.Register(s, domain.Options{PlatformZone: o.PlatformZone, AssetsHost: o.Assets.Host})
	organize.Register(s, link.PublishCampaign)
	asset.Register(s, o.Assets, o.Blobs)
	links.Register(s)
	qr.Register(s, o.Addresses, o.Blobs)
	webhook.Register(s, o.Outbound)
	works := []operation.Work{batch.Register(s, links), exports.Register(s, links, o.Events), imports.Register(s, links)}
	operation.Register(s, works...)
	analytics.Register(s, o.Events)
	diag.Register(s)
	kinds := slices.Concat(domain.Jobs(), link.Jobs(), []jobs.Kind{operation.Noop()})
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
		{Name: "operations", Run: func(ctx context.Context) (int64, error) { return operation.Sweep(ctx, db, limit) }},
		{Name: "automation", Run: func(ctx context.Context) (int64, error) { return automation.Sweep(ctx, db, limit) }},
		{Name: "rate windows", Run: func(ctx context.Context) (int64, error) { return ratelimit.Sweep(ctx, db) }},
		{Name: "webhook deliveries", Run: func(ctx context.Context) (int64, error) { return outbox.Sweep(ctx, db, limit) }},
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
