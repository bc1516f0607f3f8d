package segments

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// entry is a row of event_segment: what the manifest knows of a segment.
type entry struct {
	id            string
	first, last   clock.Instant
	events, bytes int64
	sha256        string
	// created is when the first of its events was appended.
	created clock.Instant
	// young segments lie in the manifest, the others in a file.
	young bool
}

// extension ends the name of a file.
const extension = ".parquet"

// fileName is the name of a segment's file.
func fileName(id string) string { return id + extension }

// draft is a segment that is not in the manifest yet.
type draft struct {
	entry
	// data is the content of a young segment.
	data []byte
	// due is when the file counts as garbage, unless it is in the manifest by then.
	due clock.Instant
}

// grace is how long the file of a replaced segment stays. It is much longer than any query
// takes, so that those that began before the change end well, although the clock of who
// deletes the file may be ahead.
const grace = 5 * time.Minute

// errLost is the error of a change that came too late: another one was faster.
var errLost = errors.New("another process has just replaced the same segments")

// overlapping lists the segments with events from start on and before end, in one
// statement: it sees each event in one segment.
func overlapping(ctx context.Context, q store.Q, start, end clock.Instant) ([]entry, error) {
	return entries(ctx, q, "WHERE first_at < ? AND last_at >= ? ORDER BY first_at, id", int64(end), int64(start))
}

func entries(ctx context.Context, q store.Q, where string, args ...any) ([]entry, error) {
	return store.All(ctx, q, func(r store.Row) (s entry, err error) {
		err = r.Scan(&s.id, &s.first, &s.last, &s.events, &s.bytes, &s.sha256, &s.created, &s.young)
		return s, err
	}, "SELECT id, first_at, last_at, events, bytes, sha256, created_at, data IS NOT NULL FROM event_segment "+where,
		args...)
}

// stillThere is errLost when a segment is not in the manifest any more.
func (e *Engine) stillThere(ctx context.Context, list []entry) error {
	for part := range store.Chunks(list) {
		ids := idsOf(part)
		n, err := store.One(ctx, e.DB, store.Value[int], "SELECT count(*) FROM event_segment WHERE id IN ("+
			store.Marks(len(ids))+")", ids...)
		if err != nil {
			return err
		}
		if n != len(ids) {
			return errLost
		}
	}
	return nil
}

func idsOf(list []entry) []any {
	ids := make([]any, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	return ids
}

// replace is the one change of the manifest: segments leave it and drafts with the same
// events, or with those that are to stay, take their place. It is errLost when one of
// the segments is gone already, or when a draft took so long that its file may be gone.
//
// Each statement sees what was committed before it. A row that two changes delete is
// deleted by one of them.
func (e *Engine) replace(ctx context.Context, old []entry, drafts []draft) error {
	return e.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		for part := range store.Chunks(old) {
			ids := idsOf(part)
			n, err := tx.Exec(ctx, "DELETE FROM event_segment WHERE id IN ("+store.Marks(len(ids))+")", ids...)
			if err != nil {
				return err
			}
			if n != int64(len(part)) {
				return errLost
			}
		}
		for i := range drafts {
			if err := add(ctx, tx, &drafts[i]); err != nil {
				return err
			}
		}
		for i := range old {
			if old[i].young {
				continue
			}
			if err := discard(ctx, tx, old[i].id, tx.Now.Add(grace)); err != nil {
				return err
			}
		}
		return nil
	})
}

// add puts a draft into the manifest.
func add(ctx context.Context, tx *store.Tx, d *draft) error {
	var data any // NULL, and not an empty one
	if d.young {
		data = d.data
	} else if err := keep(ctx, tx, d.id, d.due); err != nil {
		return err
	}
	return tx.Send(ctx, "INSERT INTO event_segment (id, first_at, last_at, events, bytes, sha256, created_at, data) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)", d.id, int64(d.first), int64(d.last), d.events, d.bytes, d.sha256,
		int64(d.created), data)
}
