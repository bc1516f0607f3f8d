package asset

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// unfinishedFor is how long an upload or a removal may take before a sweep ends
// it; no call lasts nearly as long.
const unfinishedFor = 10 * time.Minute

// Sweep removes the bytes and the records of uploads that were never confirmed,
// of removals that were not finished, and of apps that are gone; at most limit
// of them.
func Sweep(ctx context.Context, db *store.DB, blobs blob.Store, limit int) (int64, error) {
	type leftover struct {
		id, object string
		updatedAt  clock.Instant
	}
	all, err := store.All(ctx, db, func(r store.Row) (l leftover, err error) {
		err = r.Scan(&l.id, &l.object, &l.updatedAt)
		return l, err
	}, `SELECT id, object, updated_at FROM asset WHERE state <> 'active' AND updated_at < ?
		UNION SELECT id, object, updated_at FROM asset WHERE NOT EXISTS (SELECT 1 FROM app WHERE app.id = asset.app_id) LIMIT ?`,
		db.Now().Add(-unfinishedFor), limit)
	if err != nil {
		return 0, err
	}
	for n, l := range all {
		// From here on the client that left it cannot take it up again.
		if own, err := db.Exec(ctx, "UPDATE asset SET state = 'deleting' WHERE id = ? AND updated_at = ?", l.id, l.updatedAt); err != nil {
			return int64(n), err
		} else if own == 0 {
			continue
		}
		if err := blobs.Delete(ctx, l.object); err != nil {
			return int64(n), err
		}
		if _, err := db.Exec(ctx, "DELETE FROM asset WHERE id = ?", l.id); err != nil {
			return int64(n), err
		}
	}
	return int64(len(all)), nil
}
