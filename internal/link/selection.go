package link

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

// Selection is which templates a link chose, and which its pages have
// (completions.md §4, Link template-selection).
type Selection struct {
	LinkID           string             `json:"linkId"`
	AppID            string             `json:"appId"`
	Revision         string             `json:"revision" format:"uuid" doc:"The link's."`
	Selection        binding.Selections `json:"selection" doc:"Null and inherit take the choice of the domain, then of the app, or else the official template."`
	BindingRevisions binding.Revisions  `json:"bindingRevisions" doc:"Of each choice; null until it is first set."`
	Effective        Effective          `json:"effective" doc:"What link, domain and app come to. Not part of the revision."`
}

// SchemaName implements schema.Named.
func (Selection) SchemaName() string { return "LinkTemplateSelection" }

// Effective are the templates of a link's pages: official or custom.
type Effective struct {
	Android  binding.Selection `json:"android"`
	IOS      binding.Selection `json:"ios"`
	Recovery binding.Selection `json:"recovery"`
}

// SchemaName implements schema.Named.
func (Effective) SchemaName() string { return "EffectiveTemplates" }

// SetSelection is the body of setLinksLinkIdTemplateSelection.
type SetSelection struct {
	Selection binding.SetSelections `json:"selection" doc:"What is omitted is taken back."`
}

// SchemaName implements schema.Named.
func (SetSelection) SchemaName() string { return "LinkTemplateSelectionInput" }

func registerSelection(p *op.Pipeline, s *Service, app op.AppRef) {
	op.Read(p, op.Op{ID: "getLinksLinkIdTemplateSelection", Method: "GET", Path: "/links/{linkId}/template-selection",
		Perm: "template_bindings:read", App: app, Summary: "Get the templates of a link"}, s.getSelection)
	op.Write(p, op.Op{ID: "setLinksLinkIdTemplateSelection", Method: "PUT", Path: "/links/{linkId}/template-selection",
		Perm: "template_bindings:update", App: app, IfMatch: op.IfMatchRequired, Summary: "Set the templates of a link",
		Doc: "The link gets a new revision. A version that requires other values than the link has is refused (409): " +
			"set templateSelection and templateData together then, with updateLinksLinkId."}, s.setSelection)
}

// selection returns the answer about what a link chose.
func (t *Templates) selection(ctx context.Context, q store.Q) (op.Item[Selection], error) {
	wider, err := domain.Inherited(ctx, q, t.link.AppID, t.link.Domain)
	if err != nil {
		return op.Item[Selection]{}, err
	}
	scopes := append([]*binding.Selections{&t.bindings.Selections}, wider...)
	return op.Item[Selection]{Ref: t.Ref(), Data: Selection{
		LinkID: t.link.ID, AppID: t.link.AppID, Revision: t.link.Revision, Selection: t.bindings.Selections,
		BindingRevisions: t.bindings.Revisions, Effective: Effective{
			Android: binding.Resolve(binding.Android, scopes...), IOS: binding.Resolve(binding.IOS, scopes...),
			Recovery: binding.Resolve(binding.Recovery, scopes...)},
	}}, nil
}

func (s *Service) getSelection(ctx context.Context, c *op.Call, in *linkInput) (op.Item[Selection], error) {
	t, err := s.Templates(ctx, c.DB, c, in.LinkID)
	if err != nil {
		return op.Item[Selection]{}, err
	}
	return t.selection(ctx, c.DB)
}

type setSelectionInput struct {
	LinkID string `path:"linkId"`
	Body   SetSelection
}

func (s *Service) setSelection(ctx context.Context, c *op.Call, tx *store.Tx,
	in *setSelectionInput) (op.Item[Selection], error) {
	t, err := s.Templates(ctx, tx, c, in.LinkID)
	if err == nil {
		err = template.Replace(ctx, c, tx, t, "/selection", &in.Body.Selection)
	}
	if err != nil {
		return op.Item[Selection]{}, err
	}
	return t.selection(ctx, tx)
}
