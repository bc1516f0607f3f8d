package template

import (
	"context"

	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Defaults are the templates of an app, or of a domain, for links that choose none
// (completions.md §4, Template defaults).
type Defaults struct {
	AppID            string             `json:"appId"`
	DomainID         *string            `json:"domainId" doc:"Null for the defaults of an app."`
	Revision         string             `json:"revision" format:"uuid" doc:"The app's or the domain's."`
	Defaults         binding.Selections `json:"defaults" doc:"Null and inherit take the choice of the app, or else the official template."`
	BindingRevisions binding.Revisions  `json:"bindingRevisions" doc:"Of each choice; null until it is first set."`
}

// SchemaName implements schema.Named.
func (Defaults) SchemaName() string { return "TemplateDefaults" }

// SetDefaults is the body of setAppsAppIdTemplateDefaults and
// setDomainsDomainIdTemplateDefaults.
type SetDefaults struct {
	Defaults binding.SetSelections `json:"defaults" doc:"What is omitted is taken back."`
}

// SchemaName implements schema.Named.
func (SetDefaults) SchemaName() string { return "TemplateDefaultsInput" }

func registerDefaults(p *op.Pipeline) {
	ofDomain := op.AppOf("domainId", domain.AppOf)
	op.Read(p, op.Op{ID: "getAppsAppIdTemplateDefaults", Method: "GET", Path: "/apps/{appId}/template-defaults",
		Perm: "template_bindings:read", App: op.AppInPath, Summary: "Get the default templates of an app"}, getOfApp)
	op.Write(p, op.Op{ID: "setAppsAppIdTemplateDefaults", Method: "PUT", Path: "/apps/{appId}/template-defaults",
		Perm: "template_bindings:update", App: op.AppInPath, IfMatch: op.IfMatchRequired,
		Summary: "Set the default templates of an app",
		Doc: "For links that choose none, on domains that choose none. The app gets a new revision, and its domains are " +
			"published again."}, setOfApp)
	op.Read(p, op.Op{ID: "getDomainsDomainIdTemplateDefaults", Method: "GET",
		Path: "/domains/{domainId}/template-defaults", Perm: "template_bindings:read", App: ofDomain,
		Summary: "Get the default templates of a domain"}, getOfDomain)
	op.Write(p, op.Op{ID: "setDomainsDomainIdTemplateDefaults", Method: "PUT",
		Path: "/domains/{domainId}/template-defaults", Perm: "template_bindings:update", App: ofDomain,
		IfMatch: op.IfMatchRequired, Summary: "Set the default templates of a domain",
		Doc: "For links that choose none. The domain gets a new revision and is published again."}, setOfDomain)
}

// defaultsOf returns what an app or a domain chose.
func defaultsOf(h Holder, domainID *string, err error) (op.Item[Defaults], error) {
	if err != nil {
		return op.Item[Defaults]{}, err
	}
	ref, chosen := h.Ref(), h.Bindings()
	return op.Item[Defaults]{Ref: ref, Data: Defaults{AppID: ref.AppID, DomainID: domainID, Revision: ref.Revision,
		Defaults: chosen.Selections, BindingRevisions: chosen.Revisions}}, nil
}

type appInput struct {
	AppID string `path:"appId" maxLength:"500"`
}

func getOfApp(ctx context.Context, c *op.Call, in *appInput) (op.Item[Defaults], error) {
	h, err := app.LoadTemplates(ctx, c.DB, in.AppID)
	return defaultsOf(h, nil, err)
}

type setAppInput struct {
	AppID string `path:"appId" maxLength:"500"`
	Body  SetDefaults
}

func setOfApp(ctx context.Context, c *op.Call, tx *store.Tx, in *setAppInput) (op.Item[Defaults], error) {
	h, err := app.LoadTemplates(ctx, tx, in.AppID)
	if err == nil {
		err = Replace(ctx, c, tx, h, "/defaults", &in.Body.Defaults)
	}
	return defaultsOf(h, nil, err)
}

type domainInput struct {
	DomainID string `path:"domainId"`
}

func getOfDomain(ctx context.Context, c *op.Call, in *domainInput) (op.Item[Defaults], error) {
	h, err := domain.LoadTemplates(ctx, c.DB, in.DomainID)
	return defaultsOf(h, &in.DomainID, err)
}

type setDomainInput struct {
	DomainID string `path:"domainId"`
	Body     SetDefaults
}

func setOfDomain(ctx context.Context, c *op.Call, tx *store.Tx, in *setDomainInput) (op.Item[Defaults], error) {
	h, err := domain.LoadTemplates(ctx, tx, in.DomainID)
	if err == nil {
		err = Replace(ctx, c, tx, h, "/defaults", &in.Body.Defaults)
	}
	return defaultsOf(h, &in.DomainID, err)
}
