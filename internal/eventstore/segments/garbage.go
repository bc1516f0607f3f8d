package segments

import (
	"context"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// writeWithin is how long the writer of a file may take to put it into the manifest.
	writeWithin = time.Hour
	// collectAtOnce is how many files one step deletes.
	collectAtOnce = 16
	// claimed is when garbage is due that somebody has begun to delete. No writer
	// finds its own instant there any more.
	claimed = 0
)

// announce enters a file that is about to be written into event_garbage and returns
// when it is due there.
func (e *Engine) announce(ctx context.Context, id string) (due clock.Instant, err error) {
	due = e.DB.Now().Add(writeWithin)
	_, err = e.DB.Exec(ctx, "INSERT INTO event_garbage (segment_id, due_at) VALUES (?, ?)", id, int64(due))
	return due, err
}

// keep takes an announced file out of event_garbage.
func keep(ctx context.Context, tx *store.Tx, id string, due clock.Instant) error {
	n, err := tx.Exec(ctx, "DELETE FROM event_garbage WHERE segment_id = ? AND due_at = ?", id, int64(due))
	if err == nil && n != 1 {
		err = errLost
	}
	return err
}

// discard enters a file that leaves the manifest.
func discard(ctx context.Context, tx *store.Tx, id string, due clock.Instant) error {
	return tx.Send(ctx, "INSERT INTO event_garbage (segment_id, due_at) VALUES (?, ?)", id, int64(due))
}

// collect deletes some of the files that are due, and reports how many. A file is
// claimed first: after that its writer cannot put it into the manifest.
func (e *Engine) collect(ctx context.Context) (n int, err error) {
	defer fault.Wrap(&err, "delete files of segments")
	now := int64(e.DB.Now())
	due, err := store.All(ctx, e.DB, store.Value[string],
		"SELECT segment_id FROM event_garbage WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, collectAtOnce)
	for _, id := range due {
		if err != nil {
			break
		}
		var mine int64
		if mine, err = e.DB.Exec(ctx, "UPDATE event_garbage SET due_at = ? WHERE segment_id = ? AND due_at <= ?",
			claimed, id, now); err != nil || mine == 0 {
			continue
		}
		if err = e.Files.Delete(ctx, fileName(id)); err != nil {
			return n, fmt.Errorf("%s: %w", fileName(id), err)
		}
		if _, err = e.DB.Exec(ctx, "DELETE FROM event_garbage WHERE segment_id = ? AND due_at = ?", id,
			claimed); err == nil {
			n++
		}
	}
	return n, err
}
