package publishing

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

// RetryPublication is the body of retryTemplatePublicationsPublicationId: an empty
// object.
type RetryPublication struct{}

// SchemaName implements schema.Named.
func (RetryPublication) SchemaName() string { return "TemplatePublicationRetryRequest" }

type retryInput struct {
	PublicationID string `path:"publicationId" maxLength:"100"`
	Body          RetryPublication
}

// retry starts new work for the targets of a publication that were not applied. Those
// that a newer publication took over are left to it.
func (s *service) retry(ctx context.Context, c *op.Call, tx *store.Tx, in *retryInput) (op.Item[Publication], error) {
	p, err := load(ctx, tx, in.PublicationID)
	if err == nil && c.Stale(p.Revision) {
		err = fault.Stale()
	}
	if err == nil {
		err = p.refuseRetry(ctx, tx)
	}
	if err != nil {
		return op.Item[Publication]{}, err
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		switch t.State {
		case TargetConflict:
			if err := s.renewExpected(ctx, c, tx, &p, t); err != nil {
				return op.Item[Publication]{}, err
			}
		case TargetDenied:
		default:
			continue
		}
		t.State, t.Error = TargetPending, nil
		if err := p.saveTarget(ctx, tx, t); err != nil {
			return op.Item[Publication]{}, err
		}
	}
	p.State, p.Phase, p.Error = Queued, Version, nil
	if err := p.save(ctx, tx); err != nil {
		return op.Item[Publication]{}, err
	}
	return p.begin(ctx, c, tx)
}

// refuseRetry refuses a publication that has nothing to retry.
func (p *Publication) refuseRetry(ctx context.Context, tx *store.Tx) error {
	switch {
	case p.State != Partial && p.State != Conflict && p.State != Denied:
		return fault.New(fault.ResourceConflict, "Only a publication that is partial, conflict or denied can be retried. "+
			"This one is %s.", p.State)
	case p.count(TargetConflict)+p.count(TargetDenied) == 0:
		return fault.New(fault.ResourceConflict, "A newer publication took over all targets that were not applied.")
	case p.Choice.Mode != binding.Custom:
		return nil
	}
	t, err := template.Load(ctx, tx, p.templateID)
	if err != nil {
		return err
	}
	return refuseArchived(&t)
}

// renewExpected has a target in conflict expect what its holder has now: its own old
// revision never comes back. A holder that is gone stays in conflict.
func (s *service) renewExpected(ctx context.Context, c *op.Call, tx *store.Tx, p *Publication, t *Target) error {
	h, err := s.holder(ctx, tx, c, t)
	if fault.Is(err, fault.ResourceConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	t.expected = *h.Bindings().Revisions.Of(p.BaseTemplateID)
	if t.expectedLink != nil {
		revision := h.Ref().Revision
		t.expectedLink = &revision
	}
	return nil
}
