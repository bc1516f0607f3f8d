package clickcount

import (
	"context"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Retention is how long it is known which events are counted: the longest that
// a killed process may stay away without its last clicks being counted twice.
const Retention = 7 * 24 * time.Hour

// Sweep forgets which events are counted, after Retention, and the counts of
// links that are gone. It deletes up to limit rows of each kind and returns how
// many of the kind that had more; fewer than limit means that there are none.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "clickcount.Sweep")
	counted, err := db.Exec(ctx, "DELETE FROM click_counted WHERE (link_id, at, id) IN "+
		"(SELECT link_id, at, id FROM click_counted WHERE at < ? ORDER BY at LIMIT ?)", db.Now().Add(-Retention), limit)
	if err != nil {
		return 0, fmt.Errorf("sweep counted clicks: %w", err)
	}
	counts, err := db.Exec(ctx, "DELETE FROM click_count WHERE link_id IN "+
		"(SELECT link_id FROM click_count c WHERE NOT EXISTS (SELECT 1 FROM link l WHERE l.id = c.link_id) LIMIT ?)", limit)
	if err != nil {
		return counted, fmt.Errorf("sweep click counts: %w", err)
	}
	return max(counted, counts), nil
}
