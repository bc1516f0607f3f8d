package clickcount

import (
	"context"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
)

// Retention is how long the database remembers how far a log is counted that brings
// nothing more. A killed process that comes back later may have its last clicks counted
// twice.
const Retention = 7 * 24 * time.Hour

// Sweep removes the positions of logs after Retention, and the counts of links that no
// longer exist. It deletes at most limit counts and returns their number; fewer than limit
// means that nothing is left.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "clickcount.Sweep")
	if err := loaded.Clicks.Sweep(ctx, db, db.Now().Add(-Retention)); err != nil {
		return 0, err
	}
	counts, err := db.Exec(ctx, "DELETE FROM click_count WHERE link_id IN "+
		"(SELECT link_id FROM click_count c WHERE NOT EXISTS (SELECT 1 FROM link l WHERE l.id = c.link_id) LIMIT ?)",
		limit)
	if err != nil {
		return 0, fmt.Errorf("sweep click counts: %w", err)
	}
	return counts, nil
}
