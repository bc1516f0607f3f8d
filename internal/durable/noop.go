package durable

import (
	"context"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// TypeNoop is an operation that does nothing: it proves that the executor
// works. No public operation starts it.
const TypeNoop = "foundation.noop"

// Noop returns the kind of the jobs that do nothing: those of operations, and
// those without one, which waymark doctor enqueues.
func Noop() jobs.Kind {
	work := Work{
		Type:    TypeNoop,
		Allowed: func(*actor.Actor) bool { return true },
		Next: func(ctx context.Context, r *Run) error {
			return r.Finish(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx, o *Operation) error {
				return o.Finish(ctx, tx, Result{Resource: Resource{Type: "app", ID: o.AppID}})
			})
		},
	}
	kind := work.Kind()
	kind.Turn = func(ctx context.Context, h *jobs.Held) error {
		if h.Payload == "" {
			return h.Finish(ctx, func(*store.Tx) error { return nil })
		}
		return work.turn(ctx, h)
	}
	return kind
}
