package operation

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Work is what operations of one type do when they work in turns: it stands
// between the job and the capability, and sees to it that nothing happens after
// a cancellation or for a caller who may not do it any more.
type Work struct {
	Type string
	// Allowed reports whether a caller may have this done; that the app is in
	// reach is checked besides.
	Allowed func(*actor.Actor) bool
	// Next does one part through r.InTx, or ends the operation through
	// r.Finish.
	Next func(ctx context.Context, r *Run) error
	// Ended is told of an operation that ended otherwise: cancelled, failed or
	// no longer allowed. It may be nil.
	Ended func(ctx context.Context, tx *store.Tx, o Operation) error
}

// Run is an operation at work.
type Run struct {
	*jobs.Held
	// OperationID names it.
	OperationID string
	work        *Work
}

// Kind returns the kind of job that does the work.
func (w Work) Kind() jobs.Kind {
	return jobs.Kind{Name: w.Type, Turn: w.turn, Failed: w.failed}
}

// errEnds is the error of a part that must not happen because the operation is
// to end first.
var errEnds = errors.New("the operation ends")

// turn does the next part. An operation that is not to go on is ended instead,
// and of one that is over, or gone with its app, only the job is left to end.
func (w *Work) turn(ctx context.Context, h *jobs.Held) error {
	o, err := find(ctx, h.DB, h.Payload)
	if err == store.ErrNotFound || err == nil && o.Terminal() {
		return h.Finish(ctx, func(*store.Tx) error { return nil })
	}
	if err != nil {
		return err
	}
	r := &Run{Held: h, OperationID: h.Payload, work: w}
	err = w.Next(ctx, r)
	if errors.Is(err, errEnds) {
		return r.Finish(ctx, func(context.Context, *op.Call, *store.Tx, *Operation) error { return nil })
	}
	return err
}

// InTx runs f, one effect, in a transaction in which the operation goes on and
// its caller still may do this. The first one marks the operation as running.
func (r *Run) InTx(ctx context.Context, f func(ctx context.Context, c *op.Call, tx *store.Tx) error) error {
	return r.Held.InTx(ctx, func(tx *store.Tx) error {
		o, c, err := r.check(ctx, tx)
		if err != nil {
			return err
		}
		if o.Terminal() || o.Status == CancelRequested || c == nil {
			return errEnds
		}
		if o.Status == Queued {
			o.Status = Running
			if err := o.save(ctx, tx); err != nil {
				return err
			}
		}
		return f(ctx, c, tx)
	})
}

// Finish ends the operation and its job: through f, or, when it is not to go
// on, as cancelled or failed.
func (r *Run) Finish(ctx context.Context, f func(ctx context.Context, c *op.Call, tx *store.Tx, o *Operation) error) error {
	return r.Held.Finish(ctx, func(tx *store.Tx) error {
		o, c, err := r.check(ctx, tx)
		switch {
		case err != nil:
			return err
		case o.Terminal():
			return nil
		case o.Status == CancelRequested:
			o.Status = Cancelled
			err = o.end(ctx, tx)
		case c == nil:
			err = o.Fail(ctx, tx, "authorization_lost", "The credential that asked for this no longer may.")
		default:
			return f(ctx, c, tx, &o)
		}
		return r.work.ended(ctx, tx, o, err)
	})
}

// check loads the operation and rebuilds its caller, nil when it may not do
// this any more.
func (r *Run) check(ctx context.Context, tx *store.Tx) (Operation, *op.Call, error) {
	o, err := Load(ctx, tx, r.OperationID)
	if err != nil {
		return o, nil, err
	}
	a, err := actor.Rebuild(ctx, tx, r.Grant, tx.Now)
	if refusal, ok := fault.From(err); ok && refusal.Code == fault.Unauthenticated {
		return o, nil, nil
	}
	if err != nil || !r.work.Allowed(a) {
		return o, nil, err
	}
	reached, err := a.Reaches(ctx, tx, o.AppID)
	if err != nil || !reached {
		return o, nil, err
	}
	return o, &op.Call{Actor: a, RequestID: o.correlationID, AppID: o.AppID, Now: tx.Now, DB: r.DB}, nil
}

// failed ends an operation whose last attempt did not succeed.
func (w *Work) failed(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
	if !final {
		return nil
	}
	o, err := find(ctx, tx, j.Payload)
	if err == store.ErrNotFound || err == nil && o.Terminal() {
		return nil
	}
	if err != nil {
		return err
	}
	err = o.Fail(ctx, tx, "attempts_exhausted", "The work was interrupted or failed too often.")
	return w.ended(ctx, tx, o, err)
}

func (w *Work) ended(ctx context.Context, tx *store.Tx, o Operation, err error) error {
	if err == nil && w.Ended != nil {
		err = w.Ended(ctx, tx, o)
	}
	return err
}
