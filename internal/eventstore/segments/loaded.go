package segments

import (
	"context"
	"errors"
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/store"
)

// position is how far a log is loaded: to an end in a file, with all files of smaller
// numbers.
type position struct{ file, end int64 }

// before reports whether an event that ends at end in a file is not loaded yet.
func (p position) before(file, end int64) bool {
	return p.file < file || p.file == file && p.end < end
}

// advance returns the events of a batch that no earlier transaction has loaded, and
// makes tx remember that it has. Events that come from no log are new.
func advance(ctx context.Context, tx *store.Tx, b *clicklog.Batch) (fresh [][]clicklog.Event, err error) {
	if len(b.Runs) == 0 {
		return [][]clicklog.Event{b.Events}, nil
	}
	logs, moved := map[string]position{}, map[string]bool{}
	events := b.Events
	for _, run := range b.Runs {
		at, ok := logs[run.Log]
		if !ok {
			if at, err = loaded(ctx, tx, run.Log); err != nil {
				return nil, err
			}
		}
		if len(run.Ends) > len(events) {
			return nil, errUneven
		}
		// Ends rise, so that what is new follows what is known.
		known, _ := slices.BinarySearchFunc(run.Ends, at, func(end int64, at position) int {
			if at.before(run.File, end) {
				return 1
			}
			return -1
		})
		fresh = append(fresh, events[known:len(run.Ends)])
		events = events[len(run.Ends):]
		if known < len(run.Ends) {
			at, moved[run.Log] = position{run.File, run.Ends[len(run.Ends)-1]}, true
		}
		logs[run.Log] = at
	}
	if len(events) > 0 {
		return nil, errUneven
	}
	for log := range moved {
		if err := tx.Send(ctx, "INSERT INTO event_loaded (log, file, position, updated_at) VALUES (?, ?, ?, ?) "+
			"ON CONFLICT (log) DO UPDATE SET file = excluded.file, position = excluded.position, "+
			"updated_at = excluded.updated_at", log, logs[log].file, logs[log].end, int64(tx.Now)); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

var errUneven = errors.New("the batch has not as many positions in the log as events")

// loaded returns how far a log is loaded.
func loaded(ctx context.Context, tx *store.Tx, log string) (position, error) {
	p, err := store.One(ctx, tx, func(r store.Row) (p position, err error) {
		err = r.Scan(&p.file, &p.end)
		return p, err
	}, "SELECT file, position FROM event_loaded WHERE log = ?", log)
	if errors.Is(err, store.ErrNotFound) {
		return position{-1, 0}, nil
	}
	return p, err
}
