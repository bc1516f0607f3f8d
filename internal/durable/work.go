package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// Work is what operations of one type do, in turns. It stands between the job
// and the capability, and makes sure that nothing happens after a cancellation,
// or for a caller who is no longer authorized.
type Work struct {
	// Type of the operations, and kind of their jobs.
	Type string
	// Permission is what the caller must hold, besides reaching the app. If it
	// is empty, only sessions of people may have this work done.
	Permission string
	// Outside tells that parts wait for servers of strangers (jobs.Kind).
	Outside bool
	// Next does one part through r.InTx, or ends the operation through
	// r.Finish or r.FinishReadCommitted.
	Next func(ctx context.Context, r *Run) error
	// Ended settles an operation that ends before its work is done: cancelled,
	// failed or no longer authorized. It may set the result. It may be nil. It
	// runs in a serializable transaction, which may be that of the
	// cancellation.
	Ended func(ctx context.Context, tx *store.Tx, o *Operation) error
}

// Run is an operation at work.
type Run struct {
	*jobs.Held
	// Call and Operation are the call and the operation as they were when this
	// turn began: enough to decide what to try. Each effect uses the ones that
	// InTx and Finish pass to it.
	Call      *op.Call
	Operation Operation
	worker    *worker
}

var (
	// errEnds means that a part must not happen: the operation is to end first.
	errEnds = errors.New("the operation ends")
	// errGoesOn means that the reason to end the operation no longer holds.
	errGoesOn = errors.New("the operation goes on")
)

// Works holds the Work of each type of operation. Capabilities add their Work
// when they register.
type Works struct {
	pipeline *op.Pipeline
	byType   map[string]*worker
}

// NewWorks returns an empty Works.
func NewWorks(p *op.Pipeline) *Works { return &Works{p, map[string]*worker{}} }

// Add adds the Work of one type of operation and returns the kind of job that
// does it.
func (w *Works) Add(work Work) jobs.Kind {
	added := &worker{work, w.pipeline}
	w.byType[work.Type] = added
	return jobs.Kind{Name: work.Type, Turn: added.turn, Outside: work.Outside, Failed: added.failed}
}

// worker does the work of an installation's operations of one type.
type worker struct {
	Work
	pipeline *op.Pipeline
}

// turn does the next part. An operation that is not to go on is ended instead.
// If the operation is finished, was deleted with its app, or never existed
// (waymark doctor tries the executor with such a job), turn only removes the
// job.
func (w *worker) turn(ctx context.Context, h *jobs.Held) (err error) {
	defer fault.Wrap(&err, "operation %s(%s)", w.Type, h.Payload)
	o, c, err := w.check(ctx, h.DB, h.Job, h.DB.Now())
	if errors.Is(err, store.ErrNotFound) || err == nil && o.Terminal() {
		return h.Finish(ctx, func(*store.Tx) error { return nil })
	}
	if err != nil {
		return err
	}
	r := &Run{Held: h, Call: c, Operation: o, worker: w}
	err = errEnds
	if o.goesOn(c) {
		err = w.Next(ctx, r)
	}
	if errors.Is(err, errEnds) || errors.Is(err, errChanged) {
		return r.Finish(ctx, func(context.Context, *op.Call, *store.Tx, *Operation) error { return errGoesOn })
	}
	return err
}

// goesOn reports whether the work goes on. The call is nil when the caller is
// no longer authorized.
func (o Operation) goesOn(c *op.Call) bool {
	return c != nil && !o.Terminal() && o.Status != CancelRequested
}

// InTx runs f, one effect, in a transaction that first checks that the
// operation goes on and that the caller is still authorized. The first call
// marks the operation as running.
func (r *Run) InTx(ctx context.Context, f func(ctx context.Context, c *op.Call, tx *store.Tx) error) error {
	return r.Held.InTx(ctx, func(tx *store.Tx) error {
		o, c, err := r.worker.check(ctx, tx, r.Job, tx.Now)
		if err != nil {
			return err
		}
		if !o.goesOn(c) {
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

// Finish ends the operation and its job. f ends the operation; if it is not to
// go on, it ends as cancelled or failed instead.
func (r *Run) Finish(ctx context.Context, f func(ctx context.Context, c *op.Call, tx *store.Tx,
	o *Operation) error) error {
	return r.Held.Finish(ctx, func(tx *store.Tx) error {
		o, c, err := r.worker.check(ctx, tx, r.Job, tx.Now)
		switch {
		case err != nil:
			return err
		case o.Terminal():
			return nil
		case o.Status == CancelRequested:
			return r.worker.stop(ctx, tx, &o, Cancelled)
		case c == nil:
			o.Error = opt.NullOf(Failure{Code: "authorization_lost",
				Message: "The credential that started this is no longer authorized."})
			return r.worker.stop(ctx, tx, &o, Failed)
		default:
			return f(ctx, c, tx, &o)
		}
	})
}

// FinishReadCommitted ends the operation and its job through f in a transaction
// of store.InTxReadCommitted, for work that publishes (route.Lock). f must end
// the operation: saving it finds a cancellation that came meanwhile. An
// operation that is not to go on ends through Finish.
func (r *Run) FinishReadCommitted(ctx context.Context, f func(ctx context.Context, c *op.Call, tx *store.Tx,
	o *Operation) error) error {
	return r.Held.FinishReadCommitted(ctx, func(tx *store.Tx) error {
		o, c, err := r.worker.check(ctx, tx, r.Job, tx.Now)
		if err != nil {
			return err
		}
		if !o.goesOn(c) {
			return errEnds
		}
		return f(ctx, c, tx, &o)
	})
}

// check loads the operation of a job and makes the call for its caller; the
// call is nil when the caller is no longer authorized.
func (w *worker) check(ctx context.Context, q store.Q, j jobs.Job, now clock.Instant) (Operation, *op.Call, error) {
	o, err := find(ctx, q, j.Payload)
	if err != nil {
		return o, nil, err
	}
	holder, err := j.Grant.Holder(ctx, q, now, w.Permission, o.AppID)
	if err != nil || holder == nil {
		return o, nil, err
	}
	return o, w.pipeline.CallFor(holder, o.correlationID, o.AppID, now), nil
}

// failed ends an operation whose last attempt did not succeed.
func (w *worker) failed(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) (err error) {
	defer fault.Wrap(&err, "end operation %s(%s)", w.Type, j.Payload)
	if !final {
		return nil
	}
	o, err := find(ctx, tx, j.Payload)
	if errors.Is(err, store.ErrNotFound) || err == nil && o.Terminal() {
		return nil
	}
	if err != nil {
		return err
	}
	o.Error = opt.NullOf(Failure{Code: AttemptsExhausted,
		Message: fmt.Sprintf("The work failed or was interrupted %d times in a row. Start it again, and quote the "+
			"operation's id when asking for help.", jobs.MaxAttempts)})
	return w.stop(ctx, tx, &o, Failed)
}

// stop ends an operation before its work is done.
func (w *worker) stop(ctx context.Context, tx *store.Tx, o *Operation, status string) error {
	o.Status = status
	if w.Ended != nil {
		if err := w.Ended(ctx, tx, o); err != nil {
			return err
		}
	}
	return o.end(ctx, tx)
}
