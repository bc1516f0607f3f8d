package publishing

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

// PublishTemplate is the body of publishTemplatesTemplateId.
type PublishTemplate struct {
	Version opt.Opt[int64] `json:"version,omitzero" minimum:"1" doc:"Omitted: the draft as it is, of which a version is made unless the newest one is the same."`
	Targets []SetTarget    `json:"targets" minItems:"1" maxItems:"50" doc:"Of the template's app, each once."`
}

// SchemaName implements schema.Named.
func (PublishTemplate) SchemaName() string { return "TemplatePublishRequest" }

type publishInput struct {
	TemplateID string `path:"templateId"`
	Body       PublishTemplate
}

func (s *service) publish(ctx context.Context, c *op.Call, tx *store.Tx,
	in *publishInput) (op.Item[Publication], error) {
	t, err := template.Current(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[Publication]{}, err
	}
	choose := func() (binding.Selection, error) {
		if in.Body.Version.Set {
			return versionOf(ctx, tx, &t, in.Body.Version.Value)
		}
		if err := refuseArchived(&t); err != nil {
			return binding.Selection{}, err
		}
		v, err := template.ToPublish(ctx, tx, &t)
		return binding.CustomOf(t.ID, v.Version), err
	}
	return start(ctx, c, tx, publish, &t, in.Body.Targets, choose)
}

// RestoreTemplate is the body of restoreTemplatesTemplateId.
type RestoreTemplate struct {
	Version opt.Opt[int64]        `json:"version,omitzero" minimum:"1" doc:"The version to choose. Either this or mode."`
	Mode    opt.Opt[binding.Mode] `json:"mode,omitzero" enum:"official,inherit" doc:"What to choose instead of a version."`
	Targets []SetTarget           `json:"targets" minItems:"1" maxItems:"50" doc:"Of the template's app, each once."`
}

// SchemaName implements schema.Named.
func (RestoreTemplate) SchemaName() string { return "TemplateRestoreRequest" }

type restoreInput struct {
	TemplateID string `path:"templateId"`
	Body       RestoreTemplate
}

func (s *service) restore(ctx context.Context, c *op.Call, tx *store.Tx,
	in *restoreInput) (op.Item[Publication], error) {
	t, err := template.Current(ctx, c, tx, in.TemplateID)
	if err != nil {
		return op.Item[Publication]{}, err
	}
	choose := func() (binding.Selection, error) {
		switch version, mode := in.Body.Version, in.Body.Mode; {
		case version.Set && mode.Set:
			return binding.Selection{}, fault.Invalid("/mode", fault.ReasonNotAllowed,
				"version and mode exclude each other; leave one of them out")
		case version.Set:
			return versionOf(ctx, tx, &t, version.Value)
		case mode.Set:
			return binding.Selection{Mode: mode.Value}, nil
		}
		return binding.Selection{}, fault.Invalid("/version", fault.ReasonRequired, "send a version or a mode")
	}
	return start(ctx, c, tx, restore, &t, in.Body.Targets, choose)
}

// versionOf returns the choice of a version that a client named.
func versionOf(ctx context.Context, tx *store.Tx, t *template.Template, version int64) (binding.Selection, error) {
	if err := refuseArchived(t); err != nil {
		return binding.Selection{}, err
	}
	_, err := template.FindVersion(ctx, tx, t.ID, version)
	if errors.Is(err, store.ErrNotFound) {
		err = fault.Invalid("/version", fault.ReasonUnknownReference, "the template has no version %d", version)
	}
	return binding.CustomOf(t.ID, version), err
}

// refuseArchived refuses to publish a version of an archived template.
func refuseArchived(t *template.Template) error {
	if t.Archived {
		return fault.New(fault.ResourceConflict, "The template is archived. Set archived to false, or publish another "+
			"template.")
	}
	return nil
}

// start stores the publication of what choose returns to the targets that a client
// sent, and starts its work.
func start(ctx context.Context, c *op.Call, tx *store.Tx, action string, t *template.Template, sent []SetTarget,
	choose func() (binding.Selection, error)) (op.Item[Publication], error) {
	var problems fault.Problems
	targets, err := newTargets(ctx, tx, &problems, c, sent)
	if err != nil {
		return op.Item[Publication]{}, err
	}
	choice, err := choose()
	problems.Keep(err)
	if err := problems.Refusal(); err != nil {
		return op.Item[Publication]{}, err
	}
	p := Publication{AppID: t.AppID, Action: action, BaseTemplateID: t.BaseTemplateID, Choice: choice, State: Queued,
		Phase: Version, Targets: targets, templateID: t.ID}
	if err := p.insert(ctx, tx); err != nil {
		return op.Item[Publication]{}, err
	}
	return p.begin(ctx, c, tx)
}

// begin starts the work of a publication that is stored, and answers the call.
func (p *Publication) begin(ctx context.Context, c *op.Call, tx *store.Tx) (op.Item[Publication], error) {
	if err := p.supersede(ctx, tx); err != nil {
		return op.Item[Publication]{}, err
	}
	if _, err := durable.Start(ctx, c, tx, workType(p.Action), p.AppID, p.ID); err != nil {
		return op.Item[Publication]{}, err
	}
	stored, err := load(ctx, tx, p.ID)
	return stored.accepted(), err
}
