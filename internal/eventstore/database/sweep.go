package database

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// sweptTexts is how many texts go at a time.
const sweptTexts = 1000

// Sweep implements eventstore.Engine. Of the small tables, only texts go, which visitors
// can invent; the rows of the others stay: other processes remember their numbers.
func (s *Store) Sweep(ctx context.Context, before clock.Instant, limit int64) (deleted int64, err error) {
	if err := eventstore.SweepLoaded(ctx, s.db, before); err != nil {
		return 0, err
	}
	if err := eventstore.SweepTexts(ctx, s.db, before, sweptTexts); err != nil {
		return 0, err
	}
	apps, err := store.All(ctx, s.db, store.Value[int64],
		"SELECT no FROM event_app a WHERE EXISTS (SELECT 1 FROM event e WHERE e.app_no = a.no AND e.at < ?) ORDER BY no",
		int64(before))
	for _, app := range apps {
		if err != nil || deleted >= limit {
			break
		}
		var n int64
		n, err = s.db.Exec(ctx, "DELETE FROM event WHERE app_no = ? AND (at, id) IN "+
			"(SELECT at, id FROM event WHERE app_no = ? AND at < ? ORDER BY at, id LIMIT ?)", app, app, int64(before),
			limit-deleted)
		deleted += n
	}
	if err != nil {
		return deleted, fmt.Errorf("sweep events before %s: %w", before, err)
	}
	return deleted, nil
}
