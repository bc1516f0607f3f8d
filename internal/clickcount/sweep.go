package clickcount

import (
	"context"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Retention is how long the database remembers which events are counted. A
// killed process that comes back later may have its last clicks counted twice.
const Retention = 7 * 24 * time.Hour

// Sweep removes the marks of counted events after Retention, and the counts of
// links that no longer exist. It deletes at most limit rows of each of the two
// kinds and returns the larger number; fewer than limit means that nothing is
// left.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "clickcount.Sweep")
	counted, err := db.Exec(ctx, "DELETE FROM click_counted WHERE (link_id, at, id) IN "+
		"(SELECT link_id, at, id FROM click_counted WHERE at < ? ORDER BY at LIMIT ?)", db.Now().Add(-Retention), limit)
	if err != nil {
		return 0, fmt.Errorf("sweep counted clicks: %w", err)
	}
	counts, err := db.Exec(ctx, "DELETE FROM click_count WHERE link_id IN "+
		"(SELECT link_id FROM click_count c WHERE NOT EXISTS (SELECT 1 FROM link l WHERE l.id = c.link_id) LIMIT ?)",
		limit)
	if err != nil {
		return counted, fmt.Errorf("sweep click counts: %w", err)
	}
	return max(counted, counts), nil
}
