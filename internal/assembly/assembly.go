// Package assembly puts the product together: the one list of its parts (Declare)
// and the one wiring of what they run in (Installation). The program and the tests
// open their installations here, so what the tests run is what ships. It holds no
// flags, listeners or signals: those are the command's.
package assembly

import (
	"github.com/waymarkhq/waymark/internal/account"
	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/apikey"
	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/automation/batches"
	"github.com/waymarkhq/waymark/internal/automation/exports"
	"github.com/waymarkhq/waymark/internal/automation/imports"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/introspect"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/qr"
	"github.com/waymarkhq/waymark/internal/redirect"
	"github.com/waymarkhq/waymark/internal/signin"
	"github.com/waymarkhq/waymark/internal/template"
	"github.com/waymarkhq/waymark/internal/template/publishing"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// Options are what capabilities depend on besides the pipeline.
type Options struct {
	Events eventstore.Engine
	// Domains are the options of domains; Declare sets AssetsHost.
	Domains   domain.Options
	Addresses link.Addresses
	// Blobs hold the bytes of images, which Assets addresses.
	Blobs  blob.Store
	Assets asset.Addresses
	// Outbound reaches the destinations of webhooks.
	Outbound *outbound.Client
}

// Declare registers every operation that exists and returns the parts of the
// product; the part of the pipeline comes first. Refusals to delete an app list
// its dependents in this order.
func Declare(p *op.Pipeline, o Options) (parts []part.Part) {
	o.Domains.AssetsHost = o.Assets.Host
	links, works := link.New(o.Addresses, o.Assets), durable.NewWorks(p)
	parts = []part.Part{
		op.Part(),
		signin.Part(),
		account.Register(p),
		apikey.Register(p),
		// Deleting an app walks all parts, so app gets the complete list.
		app.Register(p, func() []part.Part { return parts }),
		link.Register(p, links),
		domain.Register(p, works, o.Domains),
		dnsrecord.Register(p, o.Domains.Provider),
		organize.Register(p, link.PublishCampaign),
		asset.Register(p, o.Assets, o.Blobs),
		template.Register(p),
		publishing.Register(p, works, links),
		qr.Register(p, o.Addresses, o.Blobs),
		webhook.Register(p, o.Outbound),
		automation.Part(),
		batches.Register(p, works, links),
		exports.Register(p, works, links, o.Events),
		imports.Register(p, works, links),
		durable.Register(p, works),
		analytics.Register(p, o.Events),
		introspect.Register(p),
		redirect.Part(),
	}
	return parts
}
