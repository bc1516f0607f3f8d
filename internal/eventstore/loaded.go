package eventstore

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
)

// Guard refuses an Append, in its transaction, when the events of the installation belong
// into another engine by then. A nil Guard refuses none.
type Guard func(ctx context.Context, q store.Q) error

// Advance returns the events of a batch that no earlier transaction has loaded, into
// whichever engine, and makes tx remember that it has. The transaction must be
// serializable.
func Advance(ctx context.Context, tx *store.Tx, g Guard, b *clicklog.Batch) (fresh [][]clicklog.Event, err error) {
	if g != nil {
		if err := g(ctx, tx); err != nil {
			return nil, err
		}
	}
	return loaded.Events.Advance(ctx, tx, b)
}

// SweepLoaded forgets the positions of logs that have not moved for the retention, when events
// from before an instant are deleted: what those logs can still bring again is older. A
// log that is in use keeps its position, also when all events go.
func SweepLoaded(ctx context.Context, db *store.DB, before clock.Instant) error {
	return loaded.Events.Sweep(ctx, db, min(before, db.Now().Add(-Retention)))
}
