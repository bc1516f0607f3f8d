package link

import (
	"context"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// Service does what the operations do, also for batches and imports.
type Service struct {
	addresses Addresses
	assets    asset.Addresses
}

// New returns the links of an installation with its addresses.
func New(addresses Addresses, assets asset.Addresses) *Service { return &Service{addresses, assets} }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, l *Service) part.Part {
	app := op.AppOf("linkId", AppOf)
	op.List(p, op.Op{ID: "getLinks", Method: "GET", Path: "/links", Perm: "links:read", App: op.AppInQuery,
		Summary: "List and search links", Doc: "Filters combine."}, l.list)
	op.Write(p, op.Op{ID: "createLinks", Method: "POST", Path: "/links", Perm: "links:create", App: op.AppInBody,
		Budget: op.LinkCreation, Summary: "Create a short link",
		Doc: "Shortens a URL, or makes a deep link into an app. The link is stored; its publication tells when the " +
			"redirector resolves it."}, l.create)
	op.Read(p, op.Op{ID: "getLinksLinkId", Method: "GET", Path: "/links/{linkId}", Perm: "links:read", App: app,
		Summary: "Get a link"}, l.get)
	op.Write(p, op.Op{ID: "updateLinksLinkId", Method: "PATCH", Path: "/links/{linkId}", Perm: "links:update", App: app,
		IfMatch: op.IfMatchRequired, Summary: "Update a link",
		Doc: "Only the fields sent change, also inside lifecycle, utm and templateSelection; null clears one."},
		l.update)
	op.Write(p, op.Op{ID: "deleteLinksLinkId", Method: "DELETE", Path: "/links/{linkId}", Perm: "links:delete",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a link",
		Doc: "Its address is free again; its history and its events stay. A link with stored QR codes stays: 409 " +
			"with its dependencies."}, l.remove)
	op.Read(p, op.Op{ID: "getLinksLinkIdPublication", Method: "GET", Path: "/links/{linkId}/publication",
		Perm: "links:read", App: app, ETag: true, Summary: "Get the publication status of a link",
		Doc: "Under the link's revision, of which the publication is not part."}, l.publication)
	op.Write(p, op.Op{ID: "resyncLinksLinkId", Method: "POST", Path: "/links/{linkId}/resync", Perm: "links:resync",
		App: app, IfMatch: op.IfMatchRequired, Status: 202, Summary: "Publish a link again"}, l.resync)
	op.Write(p, op.Op{ID: "duplicateLinksLinkId", Method: "POST", Path: "/links/{linkId}/duplicate",
		Perm: "links:create", App: app, IfMatch: op.IfMatchOptional,
		Budget: op.LinkCreation, Summary: "Duplicate a link",
		Doc: "The copy has the folder, campaign, tags, parameters, destinations, routing rules and template " +
			"selection of the original, not its history, clicks or archived state."}, l.duplicate)
	op.Write(p, op.Op{ID: "validateLinks", Method: "POST", Path: "/links/validate", Perm: "links:validate",
		App: op.AppInBody, Status: 200, Summary: "Validate a link without creating it",
		Doc: "Tells what createLinks would refuse of the data: all of it is an answer, not a refusal, but for fields " +
			"that are unknown, missing or of a wrong type. It reserves nothing."},
		l.validator(op.Reader[CreateLink](p)))
	op.Read(p, op.Op{ID: "getLinksAvailability", Method: "GET", Path: "/links/availability", Perm: "links:read",
		App: op.AppOfQuery("domain", appOfDomain), Summary: "Check whether a slug is available",
		Doc: "It reserves nothing."}, l.availability)
	op.Write(p, op.Op{ID: "previewLinksLinkId", Method: "POST", Path: "/links/{linkId}/preview", Perm: "links:preview",
		App: app, IfMatch: op.IfMatchOptional, Status: 200, Summary: "Preview where a link redirects",
		Doc: "Decided as the redirector does, from the link as it is now, published or not. Nothing is counted."},
		l.preview)
	op.List(p, op.Op{ID: "getLinksLinkIdHistory", Method: "GET", Path: "/links/{linkId}/history",
		Perm: "link_history:read", App: op.AppOf("linkId", appOfHistory), Summary: "List the change history of a link",
		Doc: "Also of a link that is gone. Names of fields, never values."}, history)
	op.Read(p, op.Op{ID: "getLinksLinkIdTags", Method: "GET", Path: "/links/{linkId}/tags", Perm: "tags:read", App: app,
		Summary: "Get the tags of a link"}, l.tags)
	op.Write(p, op.Op{ID: "setLinksLinkIdTags", Method: "PUT", Path: "/links/{linkId}/tags", Perm: "tags:update",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Set the tags of a link", Doc: "The link gets a new revision."},
		l.setTags)
	op.Read(p, op.Op{ID: "getLinksLinkIdRoutingRules", Method: "GET", Path: "/links/{linkId}/routing-rules",
		Perm: "routing_rules:read", App: app, Summary: "Get the routing rules of a link"}, l.rules)
	op.Write(p, op.Op{ID: "setLinksLinkIdRoutingRules", Method: "PUT", Path: "/links/{linkId}/routing-rules",
		Perm: "routing_rules:update", App: app, IfMatch: op.IfMatchRequired, Summary: "Set the routing rules of a link",
		Doc: "Rules redirect by device, country and time. The first rule that matches a visit decides, in the order " +
			"of the array. The link gets a new revision."}, l.setRules)
	registerSelection(p, l, app)
	op.List(p, op.Op{ID: "getCampaignsCampaignIdLinks", Method: "GET", Path: "/campaigns/{campaignId}/links",
		Perm: "campaigns:read", App: op.AppOf("campaignId", organize.AppOfCampaign),
		Summary: "List the links of a campaign"}, l.ofCampaign)
	return part.Part{
		Name: "link",
		Kinds: []jobs.Kind{
			{Name: jobPublish, RunAll: publish, Failed: publishFailed},
			{Name: jobRepublish, RunAll: publish, Failed: publishFailed},
			{Name: jobPublishCampaign, Run: publishCampaign},
		},
		Sweeps: []part.Sweep{
			{Name: "link history", Run: Sweep},
			{Name: "click counts", Run: clickcount.Sweep},
			{Name: "route changes", Run: route.Sweep},
		},
		OfApp: part.OfApp{
			Tables: []string{"link", "link_history"},
			// The history of a deleted link keeps the app from being deleted
			// for as long as it is kept; the ids are those of the links. After
			// that it waits for the sweep.
			Dependents: []dependents.Query{
				{Type: "link", SQL: "SELECT id FROM link WHERE app_id = ?"},
				{Type: "link_history", Kept: true, SQL: `SELECT link_id AS id, created_at AS at FROM link_history
					WHERE app_id = ? AND action = 'deleted'`},
			},
		},
	}
}

type linkInput struct {
	LinkID string `path:"linkId"`
}

func (s *Service) get(ctx context.Context, c *op.Call, in *linkInput) (op.Item[Link], error) {
	l, err := s.load(ctx, c.DB, c, in.LinkID)
	return op.Item[Link]{Data: l, Ref: l.ref()}, err
}

// current loads a link for a change under the revision that the client knows.
func (s *Service) current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (Link, error) {
	l, err := s.load(ctx, tx, c, id)
	if err == nil && l.AppID != c.AppID {
		err = fault.Missing()
	}
	if err == nil && c.Stale(l.Revision) {
		err = fault.Stale()
	}
	return l, err
}

func (s *Service) remove(ctx context.Context, c *op.Call, tx *store.Tx, in *linkInput) (op.Item[op.Nothing], error) {
	l, err := s.Delete(ctx, c, tx, in.LinkID)
	return op.Removed(l.ref()), err
}

// Delete removes a link of the call's app under the revision that the caller
// knows, unless QR codes refer to it. It returns the link as it was.
func (s *Service) Delete(ctx context.Context, c *op.Call, tx *store.Tx, id string) (_ Link, err error) {
	defer fault.Wrap(&err, "link.Delete(%s)", id)
	l, err := s.current(ctx, c, tx, id)
	if err != nil {
		return l, err
	}
	if err := dependents.Refuse(ctx, tx, l.ID, dependents.Query{Type: "qr_code", SQL: `SELECT id FROM qr_code
		WHERE link_id = ?`}); err != nil {
		return l, err
	}
	gone := Link{ID: l.ID}
	if err := gone.indexTemplates(ctx, tx, &l.TemplateSelection); err != nil {
		return l, err
	}
	for _, statement := range []string{"DELETE FROM link_tag WHERE link_id = ?", "DELETE FROM link WHERE id = ?"} {
		if _, err := tx.Exec(ctx, statement, l.ID); err != nil {
			return l, err
		}
	}
	return l, changed(ctx, tx, &l, "deleted", []string{}, delivery.LinkDeleted)
}

func (s *Service) publication(ctx context.Context, c *op.Call, in *linkInput) (op.Item[publication.Detail], error) {
	l, err := s.load(ctx, c.DB, c, in.LinkID)
	if err != nil {
		return op.Item[publication.Detail]{}, err
	}
	return published(ctx, c.DB, &l)
}

func published(ctx context.Context, q store.Q, l *Link) (op.Item[publication.Detail], error) {
	d, err := op.Found(publication.Links.Load(ctx, q, l.ID))
	return op.Item[publication.Detail]{Data: d, Ref: l.ref()}, err
}

// ResyncLink is the body of resyncLinksLinkId: an empty object.
type ResyncLink struct{}

// SchemaName implements schema.Named.
func (ResyncLink) SchemaName() string { return "LinkResyncRequest" }

type resyncInput struct {
	LinkID string `path:"linkId"`
	Body   ResyncLink
}

func (s *Service) resync(ctx context.Context, c *op.Call, tx *store.Tx,
	in *resyncInput) (op.Item[publication.Detail], error) {
	l, err := s.current(ctx, c, tx, in.LinkID)
	if err != nil {
		return op.Item[publication.Detail]{}, err
	}
	if err := publication.Links.Request(ctx, tx, l.ID); err != nil {
		return op.Item[publication.Detail]{}, err
	}
	if err := record(ctx, tx, &l, "resynced", []string{}); err != nil {
		return op.Item[publication.Detail]{}, err
	}
	if err := enqueue(ctx, tx, projection{LinkID: l.ID, Hostname: l.Domain, Prefix: l.Prefix, Slug: l.Slug,
		Resync: true}, l.AppID); err != nil {
		return op.Item[publication.Detail]{}, err
	}
	item, err := published(ctx, tx, &l)
	item.Location, item.RetryAfter = l.Location()+"/publication", 1
	return item, err
}
