package durable

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM operation WHERE id = ?", id)
}

// Register declares the operations of this package, adds the work that does
// nothing to works, and returns the package's part.
func Register(p *op.Pipeline, works *Works) part.Part {
	app := op.AppOf("operationId", appOf)
	op.Read(p, op.Op{ID: "getOperationsOperationId", Method: "GET", Path: "/operations/{operationId}",
		Perm: "operations:read", App: app, Summary: "Get the status of an operation"}, get)
	op.Write(p, op.Op{ID: "cancelOperationsOperationId", Method: "POST", Path: "/operations/{operationId}/cancel",
		Perm: "operations:cancel", App: app, IfMatch: op.IfMatchOptional, Status: 202, Summary: "Cancel an operation",
		Doc: "Work that did not start is cancelled at once; confirmed effects are not undone. A finished operation " +
			"is answered unchanged."}, canceller(works))
	return part.Part{
		Name: "durable", Kinds: []jobs.Kind{works.Add(noop)}, Sweeps: []part.Sweep{{Name: "operations", Run: Sweep}},
		OfApp: part.OfApp{
			// The jobs of a deleted app end when their turn comes.
			Tables: []string{"operation", "job"},
			Dependents: []dependents.Query{{Type: "operation", SQL: `SELECT id FROM operation WHERE app_id = ?
				AND status IN ('queued', 'running', 'cancel_requested')`}},
			Remove: part.Executing("DELETE FROM operation WHERE app_id = ?"),
		},
	}
}

type input struct {
	OperationID string `path:"operationId"`
}

func get(ctx context.Context, c *op.Call, in *input) (op.Item[Operation], error) {
	o, err := Load(ctx, c.DB, in.OperationID)
	return op.Item[Operation]{Data: o, Ref: o.ref()}, err
}

type cancelInput struct {
	OperationID string `path:"operationId"`
	Body        CancelOperation
}

// CancelOperation is the body of cancelOperationsOperationId: an empty object.
type CancelOperation struct{}

// SchemaName implements schema.Named.
func (CancelOperation) SchemaName() string { return "OperationCancelRequest" }

// canceller returns the handler of cancellation: it ends an operation that has
// not started, and asks a running one to stop.
func canceller(works *Works) func(context.Context, *op.Call, *store.Tx, *cancelInput) (op.Item[Operation], error) {
	return func(ctx context.Context, c *op.Call, tx *store.Tx, in *cancelInput) (op.Item[Operation], error) {
		o, err := Load(ctx, tx, in.OperationID)
		if err != nil {
			return op.Item[Operation]{}, err
		}
		if c.Stale(o.Revision) {
			return op.Item[Operation]{}, fault.Stale()
		}
		switch o.Status {
		case Queued:
			w, known := works.byType[o.Type]
			if !known {
				return op.Item[Operation]{}, fmt.Errorf("cancel operation %s: no work is of type %s", o.ID, o.Type)
			}
			err = w.stop(ctx, tx, &o, Cancelled)
		case Running:
			o.Status = CancelRequested
			if err = o.save(ctx, tx); err == nil {
				err = jobs.Wake(ctx, tx, o.Type, o.ID)
			}
		}
		return o.Accepted(o.ref()), err
	}
}
