package publishing

import (
	"context"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

const (
	// projectionLimit is how long a publication waits for the redirector.
	projectionLimit = 5 * time.Minute
	// A wait is looked at again after a quarter of its time so far, within these
	// bounds.
	shortestLook = 200 * time.Millisecond
	longestLook  = 5 * time.Second
)

// workType is the type of the operations that do an action.
func workType(action string) string { return "template." + action }

// work is what the operations of an action do: the phases one after the other, and in
// the activation one target after the other, each in a transaction of its own.
func (s *service) work(action string) durable.Work {
	return durable.Work{Type: workType(action), Permission: permission, Next: s.next, Ended: ended}
}

func (s *service) next(ctx context.Context, r *durable.Run) error {
	p, err := load(ctx, r.DB, r.Operation.ResourceID)
	if err != nil {
		return err
	}
	t := p.pending()
	switch {
	case p.Phase == Version:
		return enter(ctx, r, Activation)
	case p.Phase == Activation && t != nil:
		return s.activate(ctx, r, t.ordinal)
	case p.Phase == Activation:
		return enter(ctx, r, Projection)
	}
	return p.project(ctx, r)
}

// enter brings a publication to its next phase. The version is available before the
// first target names it.
func enter(ctx context.Context, r *durable.Run, phase Phase) error {
	return r.InTx(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx) error {
		p, err := load(ctx, tx, r.Operation.ResourceID)
		if err != nil {
			return err
		}
		if p.Choice.Mode == binding.Custom {
			var chosen binding.Selections
			*chosen.Of(p.BaseTemplateID) = opt.NullOf(p.Choice)
			if err := template.Provide(ctx, tx, p.AppID, &chosen); err != nil {
				return err
			}
		}
		p.State, p.Phase = Applying, phase
		return p.save(ctx, tx)
	})
}

// activate applies a target, or records why it cannot be applied. What another
// transaction decided of it meanwhile stands.
func (s *service) activate(ctx context.Context, r *durable.Run, ordinal int64) error {
	change := func(f func(context.Context, *op.Call, *store.Tx, *Publication, *Target) error) error {
		return r.InTx(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx) error {
			p, err := load(ctx, tx, r.Operation.ResourceID)
			if err != nil {
				return err
			}
			t := &p.Targets[ordinal]
			if t.State != TargetPending {
				return nil
			}
			if err := f(ctx, c, tx, &p, t); err != nil {
				return err
			}
			if err := p.saveTarget(ctx, tx, t); err != nil {
				return err
			}
			return p.save(ctx, tx)
		})
	}
	err := change(s.apply)
	// The transaction of a target in conflict was undone, so the conflict is recorded in
	// another one.
	if refusal, refused := fault.From(err); err != nil && refused && refusal.Code == fault.ResourceConflict {
		err = change(func(_ context.Context, _ *op.Call, _ *store.Tx, _ *Publication, t *Target) error {
			t.fail(TargetConflict, refusal.Message)
			return nil
		})
	}
	return err
}

// Why visitors of an applied target do not get the choice.
var (
	notYetProjected = "The choice is stored, but the redirector has not taken it over yet."
	notProjected    = "The choice is stored, but it could not be brought to the redirector. A resync of the link, or " +
		"another change of the app or the domain, tries it again."
)

// project waits until the redirector has taken over what was applied, or failed to,
// and ends the operation.
func (p *Publication) project(ctx context.Context, r *durable.Run) error {
	waiting, err := p.projections(ctx, r.DB, "pending")
	if err != nil {
		return err
	}
	now := r.DB.Now()
	if waited := now.Sub(p.UpdatedAt); len(waiting) > 0 && waited < projectionLimit {
		return r.Later(ctx, now.Add(min(max(waited/4, shortestLook), longestLook)))
	}
	return r.Finish(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx, o *durable.Operation) error {
		p, err := load(ctx, tx, o.ResourceID)
		if err != nil {
			return err
		}
		notYet, err := p.projections(ctx, tx, "pending")
		if err != nil {
			return err
		}
		failed, err := p.projections(ctx, tx, "failed")
		if err != nil {
			return err
		}
		for i := range p.Targets {
			t := &p.Targets[i]
			if t.State != TargetApplied {
				continue
			}
			// What an earlier run of the publication found is over.
			t.Error = nil
			switch {
			case slices.Contains(failed, t.ordinal):
				t.Error = &notProjected
			case slices.Contains(notYet, t.ordinal):
				t.Error = &notYetProjected
			}
			if err := p.saveTarget(ctx, tx, t); err != nil {
				return err
			}
		}
		if err := p.end(ctx, tx); err != nil {
			return err
		}
		return o.Finish(ctx, tx, p.result())
	})
}

// ended settles a publication whose operation ends before its work is done.
func ended(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
	p, err := load(ctx, tx, o.ResourceID)
	if err != nil {
		return err
	}
	state, why := TargetDenied, "The operation was cancelled before."
	if o.Error.Valid {
		why = o.Error.Value.Message
		if o.Error.Value.Code == durable.AttemptsExhausted {
			state = TargetConflict
		}
	}
	for t := p.pending(); t != nil; t = p.pending() {
		t.fail(state, why)
		if err := p.saveTarget(ctx, tx, t); err != nil {
			return err
		}
	}
	o.Result = opt.NullOf(p.result())
	return p.end(ctx, tx)
}
