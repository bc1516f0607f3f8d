package template

import (
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
)

// The bounds of an app.
const (
	// MaxPerApp is how many templates that are not archived an app has at most.
	MaxPerApp = 200
	// MaxInAll is how many it has at most together with the archived ones.
	MaxInAll = 1000
)

// Template is a page template of an app (api-v1.md, Template). It is designed in
// its draft; what apps, domains and links choose are its versions.
type Template struct {
	ID             string        `json:"id" format:"uuid"`
	AppID          string        `json:"appId"`
	Name           string        `json:"name"`
	BaseTemplateID binding.Base  `json:"baseTemplateId" enum:"android,ios,recovery" doc:"Which page the template is for."`
	Archived       bool          `json:"archived" doc:"An archived template cannot be newly chosen or published. What chose it before keeps it."`
	Revision       string        `json:"revision" format:"uuid" doc:"The template's, new with each saved draft. The draft has its own."`
	CreatedAt      clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt      clock.Instant `json:"updatedAt" format:"date-time"`

	// lastVersion is the number of the newest version, 0 for none.
	lastVersion int64
	draft       Draft
}

// Position implements op.Positioned.
func (t Template) Position() cursor.Position { return cursor.Position{At: t.CreatedAt, ID: t.ID} }

// Ref names the template for audit, and as ETag of what belongs to it.
func (t *Template) Ref() op.Ref {
	return op.Ref{Type: "template", ID: t.ID, AppID: t.AppID, Revision: t.Revision}
}

// Draft is the design of a template as it is worked on (api-v1.md, Draft).
type Draft struct {
	TemplateID  string        `json:"templateId" format:"uuid"`
	Config      page.Config   `json:"config"`
	Revision    string        `json:"revision" format:"uuid" doc:"The draft's own."`
	BaseVersion *int64        `json:"baseVersion" doc:"The newest version: the draft was equal to it when it was made. null before the first. Not part of the revision."`
	UpdatedAt   clock.Instant `json:"updatedAt" format:"date-time" doc:"When the design was last saved."`
}

// SchemaName implements schema.Named.
func (Draft) SchemaName() string { return "TemplateDraft" }

func (t *Template) draftItem() op.Item[Draft] {
	return op.Item[Draft]{Data: t.draft, Ref: op.Ref{Type: "template_draft", ID: t.ID, AppID: t.AppID,
		Revision: t.draft.Revision}}
}

// WithDraft is a template with its draft, as the operations on one template answer
// it.
type WithDraft struct {
	Template Template `json:"template"`
	Draft    Draft    `json:"draft"`
	Revision string   `json:"revision" format:"uuid" doc:"The template's."`
}

// SchemaName implements schema.Named.
func (WithDraft) SchemaName() string { return "TemplateWithDraft" }

func (t *Template) item() op.Item[WithDraft] {
	return op.Item[WithDraft]{Data: WithDraft{*t, t.draft, t.Revision}, Ref: t.Ref()}
}

// created is the answer of a creation.
func (t *Template) created() op.Item[WithDraft] {
	item := t.item()
	item.Location = op.Location("templates", t.ID)
	return item
}
