package automation

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/store"
)

// ItemKind is work that goes item by item: each item is committed in the
// transaction of its effect, and none is done twice.
type ItemKind struct {
	Kind string
	// Waiting is the state of items that are to be done.
	Waiting string
	// Permission is what a caller needs to have any item done.
	Permission string
	// Apply does an item as part of tx and returns the link that it made or
	// changed. A refusal is the item's error.
	Apply func(ctx context.Context, c *op.Call, tx *store.Tx, i *Item) (ItemResult, error)
	// Creates reports whether the item will create a link, as far as can be known
	// beforehand. Such an item first takes one creation from Budget.
	Creates func(c *op.Call, i *Item) bool
	Budget  Budget
}

// Budget takes one creation of a link from the budget of an app. It returns 0,
// or when the next creation is possible if the budget is used up.
type Budget func(ctx context.Context, appID string, now clock.Instant) (until clock.Instant, err error)

// CreationBudget returns the budget that createLinks draws on, too.
func CreationBudget(p *op.Pipeline) Budget {
	return func(ctx context.Context, appID string, now clock.Instant) (clock.Instant, error) {
		standings, admitted, err := p.Limiter.Take(ctx, now, p.BudgetBuckets(op.LinkCreation, appID))
		if err != nil || admitted {
			return 0, err
		}
		return ratelimit.Tightest(standings).Reset, nil
	}
}

// Work returns what an operation of the kind does.
func (k ItemKind) Work() durable.Work {
	return durable.Work{Type: k.Kind, Permission: k.Permission, Next: k.next, Ended: Ended}
}

// next does the first item that waits, or ends the operation.
func (k *ItemKind) next(ctx context.Context, r *durable.Run) error {
	j, err := Of(ctx, r.DB, &r.Operation)
	if err != nil {
		return err
	}
	i, err := nextItem(ctx, r.DB, j.ID, k.Waiting)
	if errors.Is(err, store.ErrNotFound) {
		return r.Finish(ctx, finish)
	}
	if err != nil {
		return err
	}
	if k.Creates(r.Call, &i) {
		until, err := k.Budget(ctx, j.AppID, r.DB.Now())
		if err != nil {
			return err
		}
		if until != 0 {
			// Check from time to time that the operation is still to go on.
			return r.Later(ctx, min(until, r.DB.Now().Add(time.Minute)))
		}
	}
	err = r.InTx(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx) error { return k.apply(ctx, c, tx, j.ID, i) })
	// The transaction of a refused item was undone, so its error is recorded in
	// another one.
	if refusal, refused := fault.From(err); err != nil && refused && refusal.Code != fault.Unavailable {
		i.State, i.Error = Failed, opt.NullOf(Refused(refusal))
		err = r.InTx(ctx, func(ctx context.Context, c *op.Call,
			tx *store.Tx) error {
			return record(ctx, tx, j.ID, &i)
		})
	}
	return err
}

func (k *ItemKind) apply(ctx context.Context, c *op.Call, tx *store.Tx, jobID string, i Item) error {
	if i.Revision != nil {
		c.IfMatch = strings.ToLower(*i.Revision) // as the pipeline reads the header
	}
	result, err := k.Apply(ctx, c, tx, &i)
	if err != nil {
		return err
	}
	e := audit.Event{
		Operation: i.operation(), Actor: c.Actor, AppID: c.AppID, ResourceType: "link", ResourceID: result.LinkID,
		Revision: result.Revision, CorrelationID: c.RequestID,
	}
	if i.Action == ActionDelete {
		e.Revision = "" // the link is gone
	}
	if err := audit.Record(ctx, tx, e); err != nil {
		return err
	}
	i.State, i.Result, i.Error = Succeeded, opt.NullOf(result), opt.Null[ItemError]{}
	return record(ctx, tx, jobID, &i)
}

// record stores how an item ended and counts it.
func record(ctx context.Context, tx *store.Tx, jobID string, i *Item) error {
	if err := SaveItem(ctx, tx, jobID, i); err != nil {
		return err
	}
	j, err := find(ctx, tx, jobID)
	if err != nil {
		return err
	}
	if j.State = durable.Running; i.State == Succeeded {
		j.Succeeded++
	} else {
		j.Failed++
	}
	return j.Save(ctx, tx)
}

// finish ends an operation whose items are all done.
func finish(ctx context.Context, _ *op.Call, tx *store.Tx, o *durable.Operation) error {
	j, err := Of(ctx, tx, o)
	if err != nil {
		return err
	}
	if err := o.Finish(ctx, tx, j.result()); err != nil {
		return err
	}
	j.State = o.Status
	return j.Save(ctx, tx)
}

// result returns what the operation of the job has brought about so far.
func (j *Record) result() durable.Result {
	r := durable.Result{Resource: durable.Resource{Type: j.Kind, ID: j.ID}, Succeeded: &j.Succeeded, Failed: &j.Failed}
	if j.Kind == Import {
		r.Invalid = &j.Invalid
	}
	return r
}

// Ended settles the job of an operation that ends before its work is done:
// items that were not tried are cancelled, and the result counts those that
// were. It is the Ended of a durable.Work.
func Ended(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
	j, err := Of(ctx, tx, o)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if j.Kind != Export {
		o.Result = opt.NullOf(j.result())
	}
	if _, err := tx.Exec(ctx, `UPDATE automation_item SET state = 'cancelled' WHERE job_id = ?
		AND state IN ('pending', 'valid')`, j.ID); err != nil {
		return err
	}
	j.State = o.Status
	return j.Save(ctx, tx)
}
