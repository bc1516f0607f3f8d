package jobs

import (
	"context"

	"github.com/waymarkhq/waymark/internal/store"
)

// Kind says what jobs of one kind do. A capability declares its kinds beside
// its operations; the executor runs them.
type Kind struct {
	Name string
	// Run applies the job's effects as part of tx, in which the job is also
	// finished. It may run again when the transaction lost a race, and runs
	// with what other transactions committed before each of its statements.
	Run func(ctx context.Context, tx *store.Tx, j Job) error
	// Failed records an attempt that did not succeed; final is the last one,
	// after which the job is gone. It may be nil.
	Failed func(ctx context.Context, tx *store.Tx, j Job, final bool) error
}
