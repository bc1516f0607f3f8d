// Package operation owns durable operations as clients follow them: their
// status, result and cancellation (api-v1.md, Operation; completions.md §8).
// What an operation does is the job of the capability that started it, which
// is why this package stands below the capabilities.
package operation

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/outbox"
	"github.com/waymarkhq/waymark/internal/store"
)

// The statuses of an operation.
const (
	Queued             = "queued"
	Running            = "running"
	Succeeded          = "succeeded"
	PartiallySucceeded = "partially_succeeded"
	Failed             = "failed"
	CancelRequested    = "cancel_requested"
	Cancelled          = "cancelled"
)

// PollSeconds is what Retry-After tells a client that follows an operation.
const PollSeconds = 1

// Operation is durable work that a client can follow.
type Operation struct {
	ID        string            `json:"id" format:"uuid"`
	AppID     string            `json:"appId"`
	Type      string            `json:"type" example:"domain.create"`
	Status    string            `json:"status" enum:"queued,running,succeeded,partially_succeeded,failed,cancel_requested,cancelled"`
	CreatedAt clock.Instant     `json:"createdAt" format:"date-time"`
	UpdatedAt clock.Instant     `json:"updatedAt" format:"date-time"`
	Revision  string            `json:"revision" format:"uuid"`
	Result    opt.Null[Result]  `json:"result"`
	Error     opt.Null[Failure] `json:"error"`
}

// Result is what an operation brought about.
type Result struct {
	Resource  Resource `json:"resource"`
	Succeeded *int64   `json:"succeeded,omitempty"`
	Failed    *int64   `json:"failed,omitempty"`
}

// Resource names what an operation works on.
type Resource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Failure is a sanitized error.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Terminal reports that the operation will not change any more.
func (o Operation) Terminal() bool {
	switch o.Status {
	case Succeeded, PartiallySucceeded, Failed, Cancelled:
		return true
	}
	return false
}

// Location is where a client follows the operation.
func (o Operation) Location() string { return op.BasePath + "/operations/" + o.ID }

func (o Operation) ref() op.Ref {
	return op.Ref{Type: "operation", ID: o.ID, AppID: o.AppID, Revision: o.Revision}
}

// Accepted is the answer of an operation that started this one by changing
// the resource ref.
func (o Operation) Accepted(ref op.Ref) op.Item[Operation] {
	return op.Item[Operation]{Data: o, Ref: ref, ETag: o.Revision, Location: o.Location(), RetryAfter: PollSeconds}
}

const columns = "id, app_id, type, status, result, error, revision, created_at, updated_at"

func scan(r store.Row) (o Operation, err error) {
	var result, failure *string
	if err := r.Scan(&o.ID, &o.AppID, &o.Type, &o.Status, &result, &failure, &o.Revision, &o.CreatedAt, &o.UpdatedAt); err != nil {
		return o, err
	}
	if result != nil {
		if err := json.Unmarshal([]byte(*result), &o.Result); err != nil {
			return o, err
		}
	}
	if failure != nil {
		err = json.Unmarshal([]byte(*failure), &o.Error)
	}
	return o, err
}

// Create adds a queued operation as part of tx.
func Create(ctx context.Context, tx *store.Tx, kind, appID string, a *actor.Actor) (Operation, error) {
	o := Operation{ID: ids.New(), AppID: appID, Type: kind, Status: Queued, CreatedAt: tx.Now, UpdatedAt: tx.Now, Revision: ids.Revision()}
	_, err := tx.Exec(ctx, "INSERT INTO operation (id, app_id, owner_id, type, status, revision, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		o.ID, o.AppID, a.OwnerID, o.Type, o.Status, o.Revision, o.CreatedAt, o.UpdatedAt)
	return o, err
}

// Load returns an operation, or the refusal of a missing one.
func Load(ctx context.Context, q store.Q, id string) (Operation, error) {
	o, err := store.One(ctx, q, scan, "SELECT "+columns+" FROM operation WHERE id = ?", id)
	if err == store.ErrNotFound {
		err = fault.Missing()
	}
	return o, err
}

// save stores a new status under a new revision and tells of a terminal one.
func (o *Operation) save(ctx context.Context, tx *store.Tx) error {
	o.Revision, o.UpdatedAt = ids.Revision(), tx.Now
	result, failure, err := o.outcome()
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE operation SET status = ?, result = ?, error = ?, revision = ?, updated_at = ? WHERE id = ?",
		o.Status, result, failure, o.Revision, o.UpdatedAt, o.ID); err != nil {
		return err
	}
	switch o.Status {
	case Succeeded, PartiallySucceeded:
		return outbox.Emit(ctx, tx, outbox.OperationCompleted, o.AppID, o.ID, o.Revision)
	case Failed:
		return outbox.Emit(ctx, tx, outbox.OperationFailed, o.AppID, o.ID, o.Revision)
	}
	return nil
}

func (o *Operation) outcome() (result, failure any, err error) {
	if o.Result.Valid {
		b, err := json.Marshal(o.Result)
		if err != nil {
			return nil, nil, err
		}
		result = string(b)
	}
	if o.Error.Valid {
		b, err := json.Marshal(o.Error)
		if err != nil {
			return nil, nil, err
		}
		failure = string(b)
	}
	return result, failure, nil
}

// Succeed ends the operation with what it brought about.
func (o *Operation) Succeed(ctx context.Context, tx *store.Tx, resource Resource) error {
	o.Status, o.Result = Succeeded, opt.Of(Result{Resource: resource})
	return o.save(ctx, tx)
}

// Fail ends the operation with a sanitized error.
func (o *Operation) Fail(ctx context.Context, tx *store.Tx, code, message string) error {
	o.Status, o.Error = Failed, opt.Of(Failure{Code: code, Message: message})
	return o.save(ctx, tx)
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM operation WHERE id = ?", id)
}

// Register declares the operations of this package.
func Register(s *op.Service) {
	app := op.AppOf("operationId", appOf)
	op.Read(s, op.Op{ID: "getOperationsOperationId", Method: "GET", Path: "/operations/{operationId}", Perm: "operations:read", App: app,
		Summary: "Follow a durable operation"}, get)
	op.Write(s, op.Op{ID: "cancelOperationsOperationId", Method: "POST", Path: "/operations/{operationId}/cancel", Perm: "operations:cancel", App: app,
		IfMatch: op.IfMatchOptional, Status: 202, Summary: "Ask for a cancellation",
		Doc: "Work that did not start is cancelled at once; confirmed effects are not undone. A finished operation is answered unchanged."}, cancel)
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

func cancel(ctx context.Context, c *op.Call, tx *store.Tx, in *cancelInput) (op.Item[Operation], error) {
	o, err := Load(ctx, tx, in.OperationID)
	if err != nil {
		return op.Item[Operation]{}, err
	}
	if c.Stale(o.Revision) {
		return op.Item[Operation]{}, fault.Stale()
	}
	switch o.Status {
	case Queued:
		o.Status = Cancelled
		err = o.save(ctx, tx)
	case Running:
		o.Status = CancelRequested
		err = o.save(ctx, tx)
	}
	return o.Accepted(o.ref()), err
}
