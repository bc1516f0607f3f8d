package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
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
	// Ended settles an operation that ends otherwise, cancelled, failed or no
	// longer allowed: it may set its result. It may be nil.
	Ended func(ctx context.Context, tx *store.Tx, o *Operation) error
}

// Works are what the operations of an installation do, by their type.
// Capabilities add theirs as they register.
type Works struct{ byType map[string]Work }

// NewWorks returns Works without any.
func NewWorks() *Works { return &Works{map[string]Work{}} }

// Add adds what the operations of one type do and returns the kind of job that
// does it.
func (w *Works) Add(work Work) jobs.Kind {
	w.byType[work.Type] = work
	return work.Kind()
}

// Run is an operation at work.
type Run struct {
	*jobs.Held
	// Call is its caller as this turn began: enough to decide what to try, while
	// each effect has the one that InTx gives it.
	Call *op.Call
	// OperationID names it.
	OperationID string
	work        *Work
}

// Kind returns the kind of job that does the work.
func (w Work) Kind() jobs.Kind {
	return jobs.Kind{Name: w.Type, Turn: w.turn, Failed: w.failed}
}

var (
	// errEnds is the error of a part that must not happen because the operation
	// is to end first.
	errEnds = errors.New("the operation ends")
	// errGoesOn is the error of an end whose cause is gone again.
	errGoesOn = errors.New("the operation goes on")
)

// turn does the next part. An operation that is not to go on is ended instead,
// and of one that is over, or gone with its app, only the job is left to end.
func (w *Work) turn(ctx context.Context, h *jobs.Held) error {
	r := &Run{Held: h, OperationID: h.Payload, work: w}
	o, c, err := r.check(ctx, h.DB, h.DB.Now())
	if err == store.ErrNotFound || err == nil && o.Terminal() {
		return h.Finish(ctx, func(*store.Tx) error { return nil })
	}
	if err != nil {
		return err
	}
	r.Call, err = c, errEnds
	if c != nil && o.Status != CancelRequested {
		err = w.Next(ctx, r)
	}
	if errors.Is(err, errEnds) {
		return r.Finish(ctx, func(context.Context, *op.Call, *store.Tx, *Operation) error { return errGoesOn })
	}
	return err
}

// InTx runs f, one effect, in a transaction in which the operation goes on and
// its caller still may do this. The first one marks the operation as running.
func (r *Run) InTx(ctx context.Context, f func(ctx context.Context, c *op.Call, tx *store.Tx) error) error {
	return r.Held.InTx(ctx, func(tx *store.Tx) error {
		o, c, err := r.check(ctx, tx, tx.Now)
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
		o, c, err := r.check(ctx, tx, tx.Now)
		switch {
		case err != nil:
			return err
		case o.Terminal():
			return nil
		case o.Status == CancelRequested:
			return r.work.stop(ctx, tx, &o, Cancelled)
		case c == nil:
			o.Error = opt.Of(Failure{Code: "authorization_lost", Message: "The credential that started this is no longer authorized."})
			return r.work.stop(ctx, tx, &o, Failed)
		default:
			return f(ctx, c, tx, &o)
		}
	})
}

// check loads the operation and rebuilds its caller, nil when it may not do
// this any more.
func (r *Run) check(ctx context.Context, q store.Q, now clock.Instant) (Operation, *op.Call, error) {
	o, err := find(ctx, q, r.OperationID)
	if err != nil {
		return o, nil, err
	}
	a, err := actor.Rebuild(ctx, q, r.Grant, now)
	if refusal, ok := fault.From(err); ok && refusal.Code == fault.Unauthenticated {
		return o, nil, nil
	}
	if err != nil || !r.work.Allowed(a) {
		return o, nil, err
	}
	reached, err := a.Reaches(ctx, q, o.AppID)
	if err != nil || !reached {
		return o, nil, err
	}
	return o, &op.Call{Actor: a, RequestID: o.correlationID, AppID: o.AppID, Now: now, DB: r.DB}, nil
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
	o.Error = opt.Of(Failure{Code: "attempts_exhausted", Message: fmt.Sprintf("The work failed or was interrupted %d times in a row. Start it again, and quote the operation's id when asking for help.", jobs.MaxAttempts)})
	return w.stop(ctx, tx, &o, Failed)
}

// stop ends an operation otherwise than by its work.
func (w *Work) stop(ctx context.Context, tx *store.Tx, o *Operation, status string) error {
	o.Status = status
	if w.Ended != nil {
		if err := w.Ended(ctx, tx, o); err != nil {
			return err
		}
	}
	return o.end(ctx, tx)
}
