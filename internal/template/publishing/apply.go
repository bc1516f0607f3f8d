package publishing

import (
	"context"

	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

// operations are the direct changes that audit knows the effect on a target as.
var operations = map[Scope]string{
	App: "setAppsAppIdTemplateDefaults", Domain: "setDomainsDomainIdTemplateDefaults",
	Link: "setLinksLinkIdTemplateSelection",
}

// holder returns the holder that a target names, or a conflict when it is gone.
func (s *service) holder(ctx context.Context, q store.Q, c *op.Call, t *Target) (h template.Holder, err error) {
	switch t.Scope {
	case App:
		h, err = app.LoadTemplates(ctx, q, t.holder)
	case Domain:
		h, err = domain.LoadTemplates(ctx, q, t.holder)
	default:
		h, err = s.links.Templates(ctx, q, c, t.holder)
	}
	if fault.Is(err, fault.NotFound) || err == nil && h.Ref().AppID != c.AppID {
		err = fault.New(fault.ResourceConflict, "The %s does not exist any more.", t.Scope)
	}
	return h, err
}

// apply has the holder of a target choose what is published, as part of tx, with all
// that a direct change has. Refusals are conflicts of the target.
func (s *service) apply(ctx context.Context, c *op.Call, tx *store.Tx, p *Publication, t *Target) error {
	if p.Choice.Mode == binding.Custom {
		its, err := template.Load(ctx, tx, p.templateID)
		if err == nil {
			err = refuseArchived(&its)
		}
		if err != nil {
			return err
		}
	}
	h, err := s.holder(ctx, tx, c, t)
	if err != nil {
		return err
	}
	revision := h.Bindings().Revisions.Of(p.BaseTemplateID)
	switch {
	case !same(*revision, t.expected):
		return fault.New(fault.ResourceConflict, "The choice of the %s was changed since it was read.", t.Scope)
	case t.expectedLink != nil && *t.expectedLink != h.Ref().Revision:
		return fault.New(fault.ResourceConflict, "The link was changed since it was read.")
	}
	if h.Bindings().Choose(p.BaseTemplateID, opt.NullOf(p.Choice)) {
		if err := template.Change(ctx, tx, h); err != nil {
			return err
		}
		ref := h.Ref()
		if err := audit.Record(ctx, tx, audit.Event{Operation: operations[t.Scope], Actor: c.Actor, AppID: c.AppID,
			ResourceType: ref.Type, ResourceID: ref.ID, Revision: ref.Revision, CorrelationID: c.RequestID}); err != nil {
			return err
		}
	}
	t.State, t.Error, t.AppliedRevision = TargetApplied, nil, *revision
	return nil
}

// same compares revisions that may be absent.
func same(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
