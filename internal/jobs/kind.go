package jobs

import (
	"context"

	"github.com/waymarkhq/waymark/internal/store"
)

// Kind says what jobs of one kind do: each at once (Run), several of them at once
// (RunAll), or each in turns (Turn). A capability declares its kinds beside its
// operations; the executor runs them.
type Kind struct {
	Name string
	// Run applies the job's effects as part of tx, in which the job is also
	// finished. It may run again when the transaction lost a race. Each of its
	// statements sees what other transactions committed before it.
	Run func(ctx context.Context, tx *store.Tx, j Job) error
	// RunAll is Run for the jobs of a kind that come together, which share its
	// statements.
	RunAll func(ctx context.Context, tx *store.Tx, all []Job) error
	// Turn does one part of a long job, at most one item, and ends the job with
	// h.Finish after the last. It is called again and again; what earlier turns
	// committed is never done again. Its context ends when the lease is lost.
	Turn func(ctx context.Context, h *Held) error
	// Outside tells that the turns wait for servers of strangers. Such jobs have places
	// of their own, so that slow servers hold up no other jobs.
	Outside bool
	// Failed records an attempt that did not succeed; final is the last one,
	// after which the job is gone. It may be nil.
	Failed func(ctx context.Context, tx *store.Tx, j Job, final bool) error
}
