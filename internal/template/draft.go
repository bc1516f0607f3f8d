package template

import (
	"context"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

func getDraft(ctx context.Context, c *op.Call, in *templateInput) (op.Item[Draft], error) {
	t, err := Load(ctx, c.DB, in.TemplateID)
	return t.draftItem(), err
}

// SetDraft is the body of setTemplatesTemplateIdDraft.
type SetDraft struct {
	Config page.Config `json:"config" doc:"The whole design: what is left out is as in the official template."`
}

// SchemaName implements schema.Named.
func (SetDraft) SchemaName() string { return "TemplateDraftInput" }

type setDraftInput struct {
	TemplateID string `path:"templateId"`
	Body       SetDraft
}

func setDraft(ctx context.Context, c *op.Call, tx *store.Tx, in *setDraftInput) (op.Item[Draft], error) {
	t, err := currentDraft(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[Draft]{}, err
	}
	t.draft.Config = in.Body.Config
	if err := t.checkDraft(ctx, tx); err != nil {
		return op.Item[Draft]{}, err
	}
	err = saveDraft(ctx, tx, &t)
	return t.draftItem(), err
}

// checkDraft refuses a design that cannot be rendered.
func (t *Template) checkDraft(ctx context.Context, q store.Q) error {
	var p fault.Problems
	if _, err := checkDraft(ctx, q, &p, t.AppID, t.BaseTemplateID, t.draft.Config); err != nil {
		return err
	}
	return p.Refusal()
}
