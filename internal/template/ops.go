package template

import (
	"context"
	"errors"
	"strings"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline) part.Part {
	app := op.AppOf("templateId", AppOf)
	op.List(p, op.Op{ID: "getTemplateCatalog", Method: "GET", Path: "/template-catalog", Perm: "templates:read",
		Summary: "List the base templates"}, listCatalog)
	op.Read(p, op.Op{ID: "getTemplateCatalogBaseIdSchema", Method: "GET", Path: "/template-catalog/{baseId}/schema",
		Perm: "templates:read", Summary: "Get the schema of the configuration of a base template"}, catalogSchema)
	op.List(p, op.Op{ID: "getTemplateChoices", Method: "GET", Path: "/template-choices", Perm: "templates:read",
		App: op.AppInQuery, Summary: "List the template versions that may be chosen",
		Doc: "Of templates that are not archived, newest first."}, choices)
	op.List(p, op.Op{ID: "getTemplates", Method: "GET", Path: "/templates", Perm: "templates:read", App: op.AppInQuery,
		Summary: "List templates"}, list)
	op.Write(p, op.Op{ID: "createTemplates", Method: "POST", Path: "/templates", Perm: "templates:create",
		App: op.AppInBody, Summary: "Create a template",
		Doc: "An app has at most 200 templates that are not archived, and 1,000 in all."}, create)
	op.Read(p, op.Op{ID: "getTemplatesTemplateId", Method: "GET", Path: "/templates/{templateId}",
		Perm: "templates:read", App: app, Summary: "Get a template with its draft"}, get)
	op.Write(p, op.Op{ID: "updateTemplatesTemplateId", Method: "PATCH", Path: "/templates/{templateId}",
		Perm: "templates:update", App: app, IfMatch: op.IfMatchRequired, Summary: "Rename or archive a template",
		Doc: "Only the fields sent change. The draft has an operation of its own. Templates are not deleted: an " +
			"archived one goes with its app."}, update)
	op.Write(p, op.Op{ID: "duplicateTemplatesTemplateId", Method: "POST", Path: "/templates/{templateId}/duplicate",
		Perm: "templates:create", App: app, IfMatch: op.IfMatchOptional, Summary: "Duplicate a template",
		Doc: "The copy begins with the design of a version, or of the draft; it has no versions and is not archived. " +
			"If-Match is the template's revision. With draftRevision a draft that has changed since is refused (412)."},
		duplicate)
	op.Read(p, op.Op{ID: "getTemplatesTemplateIdDraft", Method: "GET", Path: "/templates/{templateId}/draft",
		Perm: "templates:read", App: app, Summary: "Get the draft of a template"}, getDraft)
	op.Write(p, op.Op{ID: "setTemplatesTemplateIdDraft", Method: "PUT", Path: "/templates/{templateId}/draft",
		Perm: "templates:update", App: app, IfMatch: op.IfMatchRequired, Summary: "Save the draft of a template",
		Doc: "If-Match is the draft's revision. The template gets a new revision too. Colours that are hard to read may " +
			"be saved; a version needs better ones."},
		setDraft)
	op.Write(p, op.Op{ID: "validateTemplatesTemplateId", Method: "POST", Path: "/templates/{templateId}/validate",
		Perm: "templates:validate", App: app, IfMatch: op.IfMatchOptional, Status: 200, Summary: "Validate a design",
		Doc: "Tells what keeps a configuration, by default the draft, from becoming a version, and what is wrong with " +
			"the values of its variables: all of it is an answer, not a refusal, but for fields that are unknown, missing " +
			"or of a wrong type. If-Match is the template's revision. Nothing is stored."},
		validator(op.Reader[page.Config](p)))
	op.Write(p, op.Op{ID: "previewTemplatesTemplateId", Method: "POST", Path: "/templates/{templateId}/preview",
		Perm: "templates:preview", App: app, IfMatch: op.IfMatchOptional, Status: 200, Summary: "Preview a page",
		Doc: "Renders a configuration, by default the draft, as the redirector does, for a link without a title. " +
			"Links lead to the app's own addresses; where it has none, to examples. If-Match is the template's revision. " +
			"Nothing is stored or counted."}, preview)
	op.List(p, op.Op{ID: "getTemplatesTemplateIdVersions", Method: "GET", Path: "/templates/{templateId}/versions",
		Perm: "templates:read", App: app, Summary: "List the versions of a template", Doc: "Newest first."}, listVersions)
	op.Write(p, op.Op{ID: "createTemplatesTemplateIdVersions", Method: "POST", Path: "/templates/{templateId}/versions",
		Perm: "templates:snapshot", App: app, IfMatch: op.IfMatchOptional, Summary: "Make a version of the draft",
		Doc: "If-Match is the draft's revision. A draft with an issue is refused (422 with all of them). Each call makes " +
			"one more version, also of a draft that did not change. A template has at most 1,000."}, createVersion)
	op.Read(p, op.Op{ID: "getTemplatesTemplateIdVersionsVersion", Method: "GET",
		Path: "/templates/{templateId}/versions/{version}", Perm: "templates:read", App: app,
		Summary: "Get a version of a template", Doc: "A version never changes."}, getVersion)
	op.Read(p, op.Op{ID: "getTemplatesTemplateIdAvailability", Method: "GET",
		Path: "/templates/{templateId}/availability", Perm: "templates:read", App: app,
		Summary: "Get which versions the redirector has, and how many use the template"}, availability)
	registerDefaults(p)
	return part.Part{
		Name: "template",
		OfApp: part.OfApp{
			Tables: []string{"template", "template_version"},
			// Archived templates go with the app.
			Dependents: []dependents.Query{
				{Type: "template", SQL: "SELECT id FROM template WHERE app_id = ? AND NOT archived"},
			},
			Remove: part.Executing(
				"DELETE FROM route_template WHERE template_id IN (SELECT id FROM template WHERE app_id = ?)",
				"DELETE FROM template_version WHERE app_id = ?", "DELETE FROM template WHERE app_id = ?"),
		},
	}
}

// CreateTemplate is the body of createTemplates.
type CreateTemplate struct {
	AppID          string               `json:"appId" minLength:"1" maxLength:"500"`
	Name           text.Line            `json:"name" maxLength:"100"`
	BaseTemplateID binding.Base         `json:"baseTemplateId" enum:"android,ios,recovery"`
	Config         opt.Opt[page.Config] `json:"config,omitzero" doc:"The first draft. Omitted: as the official template."`
}

// SchemaName implements schema.Named.
func (CreateTemplate) SchemaName() string { return "TemplateCreate" }

func create(ctx context.Context, _ *op.Call, tx *store.Tx,
	in *struct{ Body CreateTemplate }) (op.Item[WithDraft], error) {
	t := Template{AppID: in.Body.AppID, Name: string(in.Body.Name), BaseTemplateID: in.Body.BaseTemplateID,
		draft: Draft{Config: in.Body.Config.Value}}
	err := t.checkDraft(ctx, tx)
	if err == nil {
		err = insert(ctx, tx, &t)
	}
	return t.created(), err
}

type templateInput struct {
	TemplateID string `path:"templateId"`
}

func get(ctx context.Context, c *op.Call, in *templateInput) (op.Item[WithDraft], error) {
	t, err := Load(ctx, c.DB, in.TemplateID)
	return t.item(), err
}

// UpdateTemplate is the body of updateTemplatesTemplateId.
type UpdateTemplate struct {
	Name     opt.Opt[text.Line] `json:"name,omitzero" maxLength:"100" example:"Summer sale"`
	Archived opt.Opt[bool]      `json:"archived,omitzero"`
}

// SchemaName implements schema.Named.
func (UpdateTemplate) SchemaName() string { return "TemplatePatch" }

type updateInput struct {
	TemplateID string `path:"templateId"`
	Body       UpdateTemplate
}

func update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[WithDraft], error) {
	t, err := Current(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[WithDraft]{}, err
	}
	t.Name = string(in.Body.Name.Or(text.Line(t.Name)))
	before := t.Archived
	if t.Archived = in.Body.Archived.Or(before); before && !t.Archived {
		err = makeRoom(ctx, tx, t.AppID)
	}
	if err == nil {
		err = save(ctx, tx, &t)
	}
	return t.item(), err
}

// DuplicateTemplate is the body of duplicateTemplatesTemplateId.
type DuplicateTemplate struct {
	Name          text.Line       `json:"name" maxLength:"100"`
	SourceVersion opt.Opt[int64]  `json:"sourceVersion,omitzero" minimum:"1" doc:"The version whose design is copied. Omitted: the draft."`
	DraftRevision opt.Opt[string] `json:"draftRevision,omitzero" format:"uuid" doc:"The revision that the draft must still have. Not together with sourceVersion."`
}

// SchemaName implements schema.Named.
func (DuplicateTemplate) SchemaName() string { return "TemplateDuplicateRequest" }

type duplicateInput struct {
	TemplateID string `path:"templateId"`
	Body       DuplicateTemplate
}

func duplicate(ctx context.Context, c *op.Call, tx *store.Tx, in *duplicateInput) (op.Item[WithDraft], error) {
	t, err := Current(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[WithDraft]{}, err
	}
	config, version, revision := t.draft.Config, in.Body.SourceVersion, in.Body.DraftRevision
	switch {
	case version.Set && revision.Set:
		err = fault.Invalid("/draftRevision", fault.ReasonNotAllowed, "draftRevision is not allowed together with "+
			"sourceVersion; leave one of them out")
	case version.Set:
		var v Version
		if v, err = FindVersion(ctx, tx, t.ID, version.Value); errors.Is(err, store.ErrNotFound) {
			err = fault.UnknownReference("/sourceVersion")
		}
		config = v.Config
	case revision.Set && !strings.EqualFold(revision.Value, t.draft.Revision):
		err = fault.New(fault.RevisionConflict, "The draft has another revision than draftRevision. Read it again and "+
			"reconcile.")
	}
	if err != nil {
		return op.Item[WithDraft]{}, err
	}
	copied := Template{AppID: t.AppID, Name: string(in.Body.Name), BaseTemplateID: t.BaseTemplateID,
		draft: Draft{Config: config}}
	err = insert(ctx, tx, &copied)
	return copied.created(), err
}
