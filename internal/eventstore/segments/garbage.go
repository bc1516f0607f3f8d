package segments

import (
	"context"
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
	// claimFor is how long a file belongs to who has begun to delete it: then the next one
	// tries it.
	claimFor = 10 * time.Minute
	// abandonWithin is how long it may take to make files due.
	abandonWithin = 10 * time.Second
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

// abandon makes the files of drafts that do not come into the manifest due at once. One
// that a failed Put may still bring must not be among them.
func (e *Engine) abandon(ctx context.Context, drafts []draft) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	for i := range drafts {
		if drafts[i].young {
			continue
		}
		if _, err := e.DB.Exec(ctx, "UPDATE event_garbage SET due_at = ? WHERE segment_id = ? AND due_at = ?",
			int64(e.DB.Now()), drafts[i].id, int64(drafts[i].due)); err != nil {
			return err
		}
	}
	return nil
}

// discard enters a file that leaves the manifest.
func discard(ctx context.Context, tx *store.Tx, id string, due clock.Instant) error {
	return tx.Send(ctx, "INSERT INTO event_garbage (segment_id, due_at) VALUES (?, ?)", id, int64(due))
}

// collect deletes some of the files that are due, and reports how many: none while a backup
// holds them. It ends at the first that cannot be deleted, which comes after the others the
// next time.
func (e *Engine) collect(ctx context.Context) (n int, err error) {
	defer fault.Wrap(&err, "delete files of segments")
	now := e.DB.Now()
	due, err := store.All(ctx, e.DB, store.Value[string], `SELECT segment_id FROM event_garbage WHERE due_at <= ?
		AND NOT EXISTS (SELECT 1 FROM installation WHERE name = ? AND value > ?) ORDER BY due_at LIMIT ?`,
		int64(now), heldName, held(now), collectAtOnce)
	for _, id := range due {
		if err == nil {
			var deleted bool
			if deleted, err = e.delete(ctx, id); deleted {
				n++
			}
		}
	}
	return n, err
}

// delete deletes a file that is due, unless somebody else has begun to. It is claimed
// first, by a later instant: after that its writer, who knows another one, cannot put it
// into the manifest.
func (e *Engine) delete(ctx context.Context, id string) (deleted bool, err error) {
	defer fault.Wrap(&err, "%s", fileName(id))
	now := e.DB.Now()
	claim := int64(now.Add(claimFor))
	claimed, err := e.DB.Exec(ctx, "UPDATE event_garbage SET due_at = ? WHERE segment_id = ? AND due_at <= ?",
		claim, id, int64(now))
	if err != nil || claimed == 0 {
		return false, err
	}
	if err := e.Files.Delete(ctx, fileName(id)); err != nil {
		return false, err
	}
	_, err = e.DB.Exec(ctx, "DELETE FROM event_garbage WHERE segment_id = ? AND due_at = ?", id, claim)
	return err == nil, err
}
