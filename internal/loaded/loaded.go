// Package loaded remembers how far the click logs are loaded, in the transaction that
// loads them. So what a log hands out again, after a crash, is loaded once. It owns the
// tables event_loaded and click_loaded.
package loaded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Positions are those of all logs for one purpose: a table.
type Positions string

// What click logs are loaded for.
const (
	Events Positions = "event_loaded" // analytics
	Clicks Positions = "click_loaded" // the counts of limited clicks
)

// Position is how far a log is loaded: to an end in a file, with all files of smaller
// numbers.
type Position struct{ File, End int64 }

// none is the position of a log of which nothing is loaded.
var none = Position{File: -1}

// before reports whether an event that ends at end in a file is not loaded yet.
func (p Position) before(file, end int64) bool {
	return p.File < file || p.File == file && p.End < end
}

var (
	// ErrUneven is the error of a batch that has not as many positions as events.
	ErrUneven = errors.New("the batch has not as many positions in the log as events")
	// errOther is the error of a process that lost a race for a log.
	errOther = errors.New("another process loads this click log at the moment")
)

// Advance returns the events of a batch that no earlier transaction has loaded, in the
// order of the batch, and makes tx remember that it has. Events that come from no log are
// new. After an error tx must not load anything, and the batch is to be tried again.
func (t Positions) Advance(ctx context.Context, tx *store.Tx, b *clicklog.Batch) (fresh [][]clicklog.Event, err error) {
	defer fault.Wrap(&err, "%s.Advance", t)
	if len(b.Runs) == 0 {
		return [][]clicklog.Event{b.Events}, nil
	}
	before, now := map[string]Position{}, map[string]Position{}
	events := b.Events
	for _, run := range b.Runs {
		at, ok := now[run.Log]
		if !ok {
			if at, err = t.of(ctx, tx, run.Log); err != nil {
				return nil, err
			}
			before[run.Log] = at
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
			at = Position{run.File, run.Ends[len(run.Ends)-1]}
		}
		now[run.Log] = at
	}
	if len(events) > 0 {
		return nil, ErrUneven
	}
	for log, at := range now {
		if err := t.move(ctx, tx, log, before[log], at); err != nil {
			return nil, fmt.Errorf("%s: %w", log, err)
		}
	}
	return fresh, nil
}

// of returns how far a log is loaded.
func (t Positions) of(ctx context.Context, q store.Q, log string) (Position, error) {
	p, err := store.One(ctx, q, func(r store.Row) (p Position, err error) {
		err = r.Scan(&p.File, &p.End)
		return p, err
	}, "SELECT file, position FROM "+string(t)+" WHERE log = ?", log)
	if errors.Is(err, store.ErrNotFound) {
		return none, nil
	}
	return p, err
}

// move moves the position of a log from where it was read: of two processes with the
// same log, one finds it elsewhere.
func (t Positions) move(ctx context.Context, tx *store.Tx, log string, from, to Position) error {
	if from == to {
		return nil
	}
	query := "UPDATE " + string(t) + " SET file = ?, position = ?, updated_at = ? WHERE log = ? AND file = ? AND position = ?"
	args := []any{to.File, to.End, int64(tx.Now), log, from.File, from.End}
	if from == none {
		query = "INSERT INTO " + string(t) + " (file, position, updated_at, log) VALUES (?, ?, ?, ?) ON CONFLICT (log) DO NOTHING"
		args = args[:4]
	}
	n, err := tx.Exec(ctx, query, args...)
	if err == nil && n == 0 {
		err = errOther
	}
	return err
}

// All returns how far each log is loaded. They are as many as processes have run within
// the retention, and copies.
func (t Positions) All(ctx context.Context, q store.Q) (_ map[string]Position, err error) {
	defer fault.Wrap(&err, "%s.All", t)
	type row struct {
		log string
		Position
	}
	rows, err := store.All(ctx, q, func(r store.Row) (l row, err error) {
		err = r.Scan(&l.log, &l.File, &l.End)
		return l, err
	}, "SELECT log, file, position FROM "+string(t))
	positions := map[string]Position{}
	for _, l := range rows {
		positions[l.log] = l.Position
	}
	return positions, err
}

// Newest returns when a position moved last, 0 without any.
func (t Positions) Newest(ctx context.Context, q store.Q) (_ clock.Instant, err error) {
	defer fault.Wrap(&err, "%s.Newest", t)
	return store.One(ctx, q, store.Value[clock.Instant], "SELECT COALESCE(MAX(updated_at), 0) FROM "+string(t))
}

// At returns how far a log is loaded by positions that All has returned.
func At(positions map[string]Position, log string) (file, end int64) {
	p, ok := positions[log]
	if !ok {
		p = none
	}
	return p.File, p.End
}

// Sweep forgets the positions that have not moved since before an instant.
func (t Positions) Sweep(ctx context.Context, db *store.DB, before clock.Instant) (err error) {
	defer fault.Wrap(&err, "%s.Sweep", t)
	_, err = db.Exec(ctx, "DELETE FROM "+string(t)+" WHERE updated_at < ?", int64(before))
	return err
}
