package eventstore

import (
	"context"
	"errors"
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Position is how far a log is loaded: to an end in a file, with all files of smaller
// numbers.
type Position struct{ File, End int64 }

// before reports whether an event that ends at end in a file is not loaded yet.
func (p Position) before(file, end int64) bool {
	return p.File < file || p.File == file && p.End < end
}

// Guard refuses an Append, in its transaction, when the events of the installation belong
// into another engine by then. A nil Guard refuses none.
type Guard func(ctx context.Context, q store.Q) error

// Advance returns the events of a batch that no earlier transaction has loaded, into
// whichever engine, and makes tx remember that it has. Events that come from no log are
// new. The transaction must be serializable.
func Advance(ctx context.Context, tx *store.Tx, g Guard, b *clicklog.Batch) (fresh [][]clicklog.Event, err error) {
	defer fault.Wrap(&err, "positions of logs")
	if g != nil {
		if err := g(ctx, tx); err != nil {
			return nil, err
		}
	}
	if len(b.Runs) == 0 {
		return [][]clicklog.Event{b.Events}, nil
	}
	logs, moved := map[string]Position{}, map[string]bool{}
	events := b.Events
	for _, run := range b.Runs {
		at, ok := logs[run.Log]
		if !ok {
			if at, err = loaded(ctx, tx, run.Log); err != nil {
				return nil, err
			}
		}
		if len(run.Ends) > len(events) {
			return nil, ErrUneven
		}
		// Ends rise, so that what is new follows what is known.
		known, _ := slices.BinarySearchFunc(run.Ends, at, func(end int64, at Position) int {
			if at.before(run.File, end) {
				return 1
			}
			return -1
		})
		fresh = append(fresh, events[known:len(run.Ends)])
		events = events[len(run.Ends):]
		if known < len(run.Ends) {
			at, moved[run.Log] = Position{run.File, run.Ends[len(run.Ends)-1]}, true
		}
		logs[run.Log] = at
	}
	if len(events) > 0 {
		return nil, ErrUneven
	}
	for log := range moved {
		if err := tx.Send(ctx, "INSERT INTO event_loaded (log, file, position, updated_at) VALUES (?, ?, ?, ?) "+
			"ON CONFLICT (log) DO UPDATE SET file = excluded.file, position = excluded.position, "+
			"updated_at = excluded.updated_at", log, logs[log].File, logs[log].End, int64(tx.Now)); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// ErrUneven is the error of a batch that has not as many positions as events.
var ErrUneven = errors.New("the batch has not as many positions in the log as events")

// loaded returns how far a log is loaded.
func loaded(ctx context.Context, tx *store.Tx, log string) (Position, error) {
	p, err := store.One(ctx, tx, func(r store.Row) (p Position, err error) {
		err = r.Scan(&p.File, &p.End)
		return p, err
	}, "SELECT file, position FROM event_loaded WHERE log = ?", log)
	if errors.Is(err, store.ErrNotFound) {
		return Position{-1, 0}, nil
	}
	return p, err
}

// Loaded returns how far each log is loaded. They are as many as processes have run
// within the retention, and copies.
func Loaded(ctx context.Context, q store.Q) (_ map[string]Position, err error) {
	defer fault.Wrap(&err, "eventstore.Loaded")
	type row struct {
		log string
		Position
	}
	rows, err := store.All(ctx, q, func(r store.Row) (l row, err error) {
		return l, r.Scan(&l.log, &l.File, &l.End)
	}, "SELECT log, file, position FROM event_loaded")
	positions := map[string]Position{}
	for _, l := range rows {
		positions[l.log] = l.Position
	}
	return positions, err
}

// SweepLoaded forgets the positions that have not moved for the retention, when events
// from before an instant are deleted: what those logs can still bring again is older. A
// log that is in use keeps its position, also when all events go.
func SweepLoaded(ctx context.Context, db *store.DB, before clock.Instant) (err error) {
	defer fault.Wrap(&err, "eventstore.SweepLoaded")
	old := min(before, db.Now().Add(-Retention))
	_, err = db.Exec(ctx, "DELETE FROM event_loaded WHERE updated_at < ?", int64(old))
	return err
}
