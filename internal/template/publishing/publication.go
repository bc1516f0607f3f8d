// Package publishing owns publications of templates: one call that has up to 50 apps,
// domains and links choose a version, or give up their choice, as durable work that a
// client can follow and retry (api-v1.md, TemplatePublication; completions.md §5). What
// a single holder may choose, and what follows from it, is not held here: package
// template and the holders know.
package publishing

import (
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/schema"
)

// Publication is a choice on its way to its targets.
type Publication struct {
	ID                  string            `json:"id" format:"uuid"`
	AppID               string            `json:"appId"`
	Revision            string            `json:"revision" format:"uuid"`
	Action              string            `json:"action" enum:"publish,restore"`
	BaseTemplateID      binding.Base      `json:"baseTemplateId" enum:"android,ios,recovery"`
	Choice              binding.Selection `json:"choice" doc:"What the targets are to choose."`
	State               State             `json:"state"`
	Phase               Phase             `json:"phase" doc:"How far the work is, or was when it ended."`
	Error               *string           `json:"error" maxLength:"1000" doc:"Why not all targets were applied."`
	VersionAvailability *string           `json:"versionAvailability" enum:"available,prepared" doc:"Whether the redirector has the version; null without one. Not part of the revision."`
	CreatedAt           clock.Instant     `json:"createdAt" format:"date-time"`
	UpdatedAt           clock.Instant     `json:"updatedAt" format:"date-time"`
	Targets             []Target          `json:"targets" maxItems:"50"`

	// templateID is the template that was published or restored.
	templateID string
}

// SchemaName implements schema.Named.
func (Publication) SchemaName() string { return "TemplatePublication" }

// The actions.
const (
	publish = "publish"
	restore = "restore"
)

// State is how far a publication is.
type State string

// The states of a publication. The first two are under way, the others are its ends.
const (
	Queued     State = "queued"
	Applying   State = "applying"
	Confirmed  State = "confirmed"
	Partial    State = "partial"
	Conflict   State = "conflict"
	Superseded State = "superseded"
	Denied     State = "denied"
)

// Schema implements schema.Provider.
func (State) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(Queued, Applying, Confirmed, Partial, Conflict, Superseded, Denied)
}

// Phase is what the work of a publication is at.
type Phase string

// The phases, one after the other.
const (
	// Version makes the version available to the redirector.
	Version Phase = "version"
	// Activation has the targets choose it, one by one.
	Activation Phase = "activation"
	// Projection waits until visitors of the targets get it.
	Projection Phase = "projection"
)

// Schema implements schema.Provider.
func (Phase) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(Version, Activation, Projection)
}

// Position implements op.Positioned.
func (p Publication) Position() cursor.Position { return cursor.Position{At: p.CreatedAt, ID: p.ID} }

func (p *Publication) ref() op.Ref {
	return op.Ref{Type: "template_publication", ID: p.ID, AppID: p.AppID, Revision: p.Revision}
}

// accepted is the answer of a call that started the work of the publication.
func (p *Publication) accepted() op.Item[Publication] {
	return op.Item[Publication]{Data: *p, Ref: p.ref(), Location: op.Location("template-publications", p.ID),
		RetryAfter: durable.PollSeconds}
}

// count returns how many targets are in a state.
func (p *Publication) count(state TargetState) (n int64) {
	for i := range p.Targets {
		if p.Targets[i].State == state {
			n++
		}
	}
	return n
}

// pending returns the first target that is to be done, nil for none.
func (p *Publication) pending() *Target {
	for i := range p.Targets {
		if p.Targets[i].State == TargetPending {
			return &p.Targets[i]
		}
	}
	return nil
}

// conclude gives a publication whose targets are done its final state
// (completions.md §5).
func (p *Publication) conclude() {
	applied, all := p.count(TargetApplied), int64(len(p.Targets))
	because := func(text string) { p.Error = &text }
	switch p.Error = nil; {
	case applied == all:
		p.State = Confirmed
	case applied > 0:
		p.State = Partial
		because("Some targets were not applied. The error of each says why.")
	case p.count(TargetDenied) > 0:
		p.State = Denied
		because("No target was applied. The error of each says why.")
	case p.count(TargetConflict) > 0:
		p.State = Conflict
		because("No target was applied. The error of each says why.")
	default:
		p.State = Superseded
		because("A newer publication took all targets over.")
	}
}

// result is what the operation of the publication has brought about.
func (p *Publication) result() durable.Result {
	applied := p.count(TargetApplied)
	others := int64(len(p.Targets)) - applied
	return durable.Result{Resource: durable.Resource{Type: "template_publication", ID: p.ID}, Succeeded: &applied,
		Failed: &others}
}
