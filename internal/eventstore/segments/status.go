package segments

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Status is what the manifest says of all segments.
type Status struct {
	// Young are the segments in the manifest, Sealed those in the segment store.
	Young, Sealed Amount
	// Oldest is when the first event of a young segment was appended, 0 without one.
	Oldest clock.Instant
}

// Amount is how much some segments are.
type Amount struct{ Segments, Events, Bytes int64 }

// ReadStatus returns the status of the segments in a main database.
func ReadStatus(ctx context.Context, q store.Q) (s Status, err error) {
	defer fault.Wrap(&err, "status of segments")
	type kind struct {
		young bool
		Amount
		oldest clock.Instant
	}
	kinds, err := store.All(ctx, q, func(r store.Row) (k kind, err error) {
		err = r.Scan(&k.young, &k.Segments, &k.Events, &k.Bytes, &k.oldest)
		return k, err
	}, `SELECT data IS NOT NULL, count(*), CAST(sum(events) AS BIGINT), CAST(sum(bytes) AS BIGINT), min(created_at)
		FROM event_segment GROUP BY data IS NOT NULL`)
	for _, k := range kinds {
		if k.young {
			s.Young, s.Oldest = k.Amount, k.oldest
		} else {
			s.Sealed = k.Amount
		}
	}
	return s, err
}

// CheckNewest finds out whether a segment store has the newest of the files that the
// manifest in a main database names.
func CheckNewest(ctx context.Context, q store.Q, files blob.Store) (err error) {
	defer fault.Wrap(&err, "newest file of segments")
	newest, err := entries(ctx, q, "WHERE data IS NULL ORDER BY last_at DESC LIMIT 1")
	if err != nil || len(newest) == 0 {
		return err
	}
	file, err := files.Open(ctx, fileName(newest[0].id))
	if errors.Is(err, blob.ErrNotFound) {
		err = errMissing
	}
	if err != nil {
		return &fileError{newest[0].id, err}
	}
	return file.Close()
}
