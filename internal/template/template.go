package template

import (
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
)

// Template is a page template of an app. It is designed in its draft; what apps,
// domains and links choose are its versions.
type Template struct {
	ID             string        `json:"id" format:"uuid"`
	AppID          string        `json:"appId"`
	Name           string        `json:"name" maxLength:"100" example:"Spring sale"`
	BaseTemplateID binding.Base  `json:"baseTemplateId" enum:"android,ios,recovery" doc:"Which page the template is for."`
	Archived       bool          `json:"archived" doc:"An archived template cannot be chosen or published anew. What chose it before keeps it."`
	Revision       string        `json:"revision" format:"uuid" doc:"The template's. The draft has its own."`
	CreatedAt      clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt      clock.Instant `json:"updatedAt" format:"date-time"`

	// lastVersion is the number of the newest version, 0 for none.
	lastVersion int64
	draft       Draft
}

// Position implements op.Positioned.
func (t Template) Position() cursor.Position { return cursor.Position{At: t.CreatedAt, ID: t.ID} }

func (t *Template) ref() op.Ref {
	return op.Ref{Type: "template", ID: t.ID, AppID: t.AppID, Revision: t.Revision}
}

// DraftRevision returns the revision of the draft.
func (t *Template) DraftRevision() string { return t.draft.Revision }

// Draft is the design of a template as it is worked on.
type Draft struct {
	TemplateID  string        `json:"templateId" format:"uuid"`
	Config      page.Config   `json:"config"`
	Revision    string        `json:"revision" format:"uuid" doc:"The draft's own."`
	BaseVersion *int64        `json:"baseVersion" doc:"The newest version, which was made of this draft as it was then; null before the first. Not part of the revision."`
	UpdatedAt   clock.Instant `json:"updatedAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Draft) SchemaName() string { return "TemplateDraft" }

func (t *Template) draftRef() op.Ref {
	return op.Ref{Type: "template_draft", ID: t.ID, AppID: t.AppID, Revision: t.draft.Revision}
}

// WithDraft is a template with its draft, as most operations answer it.
type WithDraft struct {
	Template Template `json:"template"`
	Draft    Draft    `json:"draft"`
	Revision string   `json:"revision" format:"uuid" doc:"The template's."`
}

// SchemaName implements schema.Named.
func (WithDraft) SchemaName() string { return "TemplateWithDraft" }

func (t *Template) item() op.Item[WithDraft] {
	return op.Item[WithDraft]{Data: WithDraft{*t, t.draft, t.Revision}, Ref: t.ref()}
}
