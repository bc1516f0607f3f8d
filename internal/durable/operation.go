// Package durable owns durable operations as clients follow them: their status,
// result and cancellation (api-v1.md, Operation; completions.md §8). The
// capability that started an operation defines what it does, which is why this
// package stands below the capabilities.
package durable

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
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

// AttemptsExhausted is the code of an operation whose work failed too often.
const AttemptsExhausted = "attempts_exhausted"

// MaxActive is how many operations of an app may be under way at once
// (api-v1.md, Sizes and counts).
const MaxActive = 5

// limitSeconds is the Retry-After of a client that has too many operations
// under way.
const limitSeconds = 5

// PollSeconds is the Retry-After of a client that follows an operation.
const PollSeconds = 1

// Operation is durable work that a client can follow.
type Operation struct {
	ID        string            `json:"id" format:"uuid"`
	AppID     string            `json:"appId"`
	Type      string            `json:"type" enum:"domain.create,domain.verify,domain.detach,link.resync,batch,import,export,template.publish,template.restore,asset.delete,foundation.noop"`
	Status    string            `json:"status" enum:"queued,running,succeeded,partially_succeeded,failed,cancel_requested,cancelled"`
	CreatedAt clock.Instant     `json:"createdAt" format:"date-time"`
	UpdatedAt clock.Instant     `json:"updatedAt" format:"date-time"`
	Revision  string            `json:"revision" format:"uuid"`
	Result    opt.Null[Result]  `json:"result"`
	Error     opt.Null[Failure] `json:"error"`

	// ResourceID is what it works on: a domain, a batch, an import, an export.
	ResourceID string `json:"-"`

	// correlationID is the request that started it.
	correlationID string
}

// Result is what an operation brought about. An operation with items also
// counts those that succeeded and failed; an import counts the invalid ones
// too.
type Result struct {
	Resource  Resource `json:"resource"`
	Succeeded *int64   `json:"succeeded,omitempty"`
	Failed    *int64   `json:"failed,omitempty"`
	Invalid   *int64   `json:"invalid,omitempty" doc:"How many items of an import were not tried because their data is invalid. With any of them the operation is at most partially_succeeded."`
}

// SchemaName implements schema.Named.
func (Result) SchemaName() string { return "OperationResult" }

// lost returns how many items did not succeed.
func (r *Result) lost() (n int64) {
	for _, count := range []*int64{r.Failed, r.Invalid} {
		if count != nil {
			n += *count
		}
	}
	return n
}

// Resource names what an operation works on.
type Resource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// SchemaName implements schema.Named.
func (Resource) SchemaName() string { return "OperationResource" }

// Failure is a sanitized error.
type Failure struct {
	Code    string `json:"code" maxLength:"100"`
	Message string `json:"message"`
}

// SchemaName implements schema.Named.
func (Failure) SchemaName() string { return "OperationError" }

// Terminal reports whether the operation is over: it will not change any more.
func (o Operation) Terminal() bool {
	switch o.Status {
	case Succeeded, PartiallySucceeded, Failed, Cancelled:
		return true
	}
	return false
}

// Location is where a client follows the operation.
func (o Operation) Location() string { return op.Location("operations", o.ID) }

func (o Operation) ref() op.Ref {
	return op.Ref{Type: "operation", ID: o.ID, AppID: o.AppID, Revision: o.Revision}
}

// Accepted is the answer of an API operation that changed the resource ref and
// thereby started this operation.
func (o Operation) Accepted(ref op.Ref) op.Item[Operation] {
	return op.Item[Operation]{Data: o, Ref: ref, ETag: o.Revision, Location: o.Location(), RetryAfter: PollSeconds}
}

// Finish ends the operation with its result. The status is succeeded when no
// item failed or was invalid, partially_succeeded when some did, and failed
// when none succeeded.
func (o *Operation) Finish(ctx context.Context, tx *store.Tx, r Result) (err error) {
	defer fault.Wrap(&err, "durable.Finish(%s)", o.ID)
	o.Status, o.Result = Succeeded, opt.NullOf(r)
	if r.lost() > 0 {
		o.Status = PartiallySucceeded
		if *r.Succeeded == 0 {
			return o.Fail(ctx, tx, "items_failed", "No item succeeded. The error of each item says why.")
		}
	}
	return o.end(ctx, tx)
}

// Fail ends the operation with a sanitized error.
func (o *Operation) Fail(ctx context.Context, tx *store.Tx, code, message string) (err error) {
	defer fault.Wrap(&err, "durable.Fail(%s)", o.ID)
	o.Status, o.Error = Failed, opt.NullOf(Failure{Code: code, Message: message})
	return o.end(ctx, tx)
}

// end stores a terminal status and emits its event.
func (o *Operation) end(ctx context.Context, tx *store.Tx) error {
	if err := o.save(ctx, tx); err != nil {
		return err
	}
	switch o.Status {
	case Succeeded, PartiallySucceeded:
		return delivery.Emit(ctx, tx, delivery.OperationCompleted, o.ref())
	case Failed:
		return delivery.Emit(ctx, tx, delivery.OperationFailed, o.ref())
	}
	return nil
}
