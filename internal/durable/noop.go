package durable

import (
	"context"

	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// TypeNoop is an operation that does nothing: it proves that the executor
// works. No public operation starts it.
const TypeNoop = "foundation.noop"

var noop = Work{
	Type: TypeNoop,
	Next: func(ctx context.Context, r *Run) error {
		return r.Finish(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx, o *Operation) error {
			return o.Finish(ctx, tx, Result{Resource: Resource{Type: "app", ID: o.AppID}})
		})
	},
}
