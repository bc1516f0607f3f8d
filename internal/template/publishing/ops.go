package publishing

import (
	"context"

	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

// service is what the operations and their work share.
type service struct{ links *link.Service }

// permission is what the caller of each operation that publishes must hold, when it
// calls and while the work goes on.
const permission = "templates:publish"

// Register declares the operations of this package, adds what they do to works and
// returns the package's part.
func Register(p *op.Pipeline, works *durable.Works, links *link.Service) part.Part {
	s := &service{links}
	ofTemplate, app := op.AppOf("templateId", template.AppOf), op.AppOf("publicationId", appOf)
	op.Write(p, op.Op{ID: "publishTemplatesTemplateId", Method: "POST", Path: "/templates/{templateId}/publish",
		Perm: permission, App: ofTemplate, IfMatch: op.IfMatchOptional, Status: 202, Summary: "Publish a template",
		Doc: "Has apps, domains and links choose a version, by default one of the draft as it is. Follow the " +
			"publication until it ends. A target whose choice changed since it was read is left as it is (conflict), " +
			"and so is one that a newer publication takes over (superseded). If-Match is the template's revision."},
		s.publish)
	op.Write(p, op.Op{ID: "restoreTemplatesTemplateId", Method: "POST", Path: "/templates/{templateId}/restore",
		Perm: permission, App: ofTemplate, IfMatch: op.IfMatchRequired, Status: 202, Summary: "Restore a template",
		Doc: "Has apps, domains and links choose an earlier version, or give up their choice: official takes the " +
			"official template, inherit that of the wider scope."}, s.restore)
	op.List(p, op.Op{ID: "getTemplatePublications", Method: "GET", Path: "/template-publications",
		Perm: "templates:read", App: op.AppInQuery, Summary: "List publications",
		Doc: "The newest first. One that is over is kept for 30 days."}, list)
	op.Read(p, op.Op{ID: "getTemplatePublicationsPublicationId", Method: "GET",
		Path: "/template-publications/{publicationId}", Perm: "templates:read", App: app,
		Summary: "Get a publication"}, get)
	op.Write(p, op.Op{ID: "retryTemplatePublicationsPublicationId", Method: "POST",
		Path: "/template-publications/{publicationId}/retry", Perm: "templates:retry", App: app,
		IfMatch: op.IfMatchRequired, Status: 202, Needs: func(any) []string { return []string{permission} },
		Summary: "Retry a publication",
		Doc: "Takes up the targets that are in conflict or denied, on behalf of the caller, who needs " + permission +
			" too. For a target in conflict, the choice that it has at the time of this call is replaced. Allowed from " +
			"partial, conflict and denied."}, s.retry)
	return part.Part{
		Name:   "template/publishing",
		Kinds:  []jobs.Kind{works.Add(s.work(publish)), works.Add(s.work(restore))},
		Sweeps: []part.Sweep{{Name: "template publications", Run: Sweep}},
		OfApp: part.OfApp{
			Tables: []string{"template_publication"},
			Remove: part.Executing("DELETE FROM template_publication WHERE app_id = ?"),
		},
	}
}

type listInput struct {
	AppID      string `query:"appId" required:"true" maxLength:"500"`
	TemplateID string `query:"templateId" maxLength:"100"`
	State      State  `query:"state"`
}

func list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Publication, error) {
	var where store.Where
	where.And("app_id = ?", in.AppID)
	if in.TemplateID != "" {
		where.And("template_id = ?", in.TemplateID)
	}
	if in.State != "" {
		where.And("state = ?", in.State)
	}
	order := w.Keyset(&where, "created_at", "id", true)
	all, err := store.All(ctx, c.DB, scan, selection+where.String()+order, where.Args(w.Limit)...)
	if err != nil {
		return nil, err
	}
	return all, readTargets(ctx, c.DB, all)
}

type publicationInput struct {
	PublicationID string `path:"publicationId" maxLength:"100"`
}

func get(ctx context.Context, c *op.Call, in *publicationInput) (op.Item[Publication], error) {
	p, err := load(ctx, c.DB, in.PublicationID)
	return op.Item[Publication]{Data: p, Ref: p.ref()}, err
}
