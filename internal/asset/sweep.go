package asset

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// unfinishedFor is how long an upload or a removal may take before a sweep ends
// it; no call lasts nearly as long.
const unfinishedFor = 10 * time.Minute

// leaveToSweep marks the images of an app that goes as part of tx; the next sweep
// removes them.
func leaveToSweep(ctx context.Context, tx *store.Tx, _, appID string) error {
	_, err := tx.Exec(ctx, "UPDATE asset SET state = 'deleting', updated_at = ? WHERE app_id = ?", tx.Now, appID)
	return err
}

// Sweep removes the bytes and the records of uploads that were never confirmed,
// of removals that were not finished, and of apps that are gone; at most limit
// of them. One that cannot be removed does not keep the others.
func Sweep(ctx context.Context, db *store.DB, blobs blob.Store, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "asset.Sweep")
	type leftover struct {
		id, object string
		updatedAt  clock.Instant
	}
	all, err := store.All(ctx, db, func(r store.Row) (l leftover, err error) {
		err = r.Scan(&l.id, &l.object, &l.updatedAt)
		return l, err
	}, "SELECT id, object, updated_at FROM asset WHERE state <> 'active' AND updated_at < ? ORDER BY updated_at LIMIT ?", db.Now().Add(-unfinishedFor), limit)
	if err != nil {
		return 0, err
	}
	for _, l := range all {
		// From here on the client that left it cannot take it up again.
		own, failed := db.Exec(ctx, "UPDATE asset SET state = 'deleting' WHERE id = ? AND updated_at = ?", l.id,
			l.updatedAt)
		if failed == nil && own > 0 {
			failed = blobs.Delete(ctx, l.object)
		}
		if failed == nil && own > 0 {
			_, failed = db.Exec(ctx, "DELETE FROM asset WHERE id = ?", l.id)
		}
		if failed != nil {
			err = errors.Join(err, failed)
		} else {
			n += own
		}
	}
	return n, err
}
