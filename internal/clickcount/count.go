package clickcount

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Multi-row inserts come in few sizes, so that few statements are prepared.
var chunks = []struct {
	rows  int
	query string
}{{100, insertOf(100)}, {10, insertOf(10)}, {1, insertOf(1)}}

func insertOf(rows int) string {
	return "INSERT INTO click_counted (link_id, at, id) VALUES " + strings.Repeat("(?, ?, ?), ", rows-1) + "(?, ?, ?)" +
		" ON CONFLICT DO NOTHING RETURNING link_id"
}

// Count counts the limited clicks of a batch of the click log, each exactly
// once, even if the log hands it out again. Do not pass the same batch again
// after Count returned nil. Only one Count may run at a time.
func (c *Counter) Count(ctx context.Context, b *clicklog.Batch) (err error) {
	defer fault.Wrap(&err, "clickcount.Count")
	var events []*clicklog.Event
	own := map[string]int64{} // by link
	for i := range b.Events {
		if e := &b.Events[i]; e.Limited {
			events = append(events, e)
			if own[e.Link.ID] += 0; i >= b.Inherited {
				own[e.Link.ID]++
			}
		}
	}
	if len(events) == 0 {
		return nil
	}
	// Processes that count the same links meet in the same order.
	links := slices.Sorted(maps.Keys(own))
	slices.SortFunc(events, func(a, b *clicklog.Event) int {
		return cmp.Or(cmp.Compare(a.Link.ID, b.Link.ID), cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
	})
	c.counting.Lock()
	defer c.counting.Unlock()
	c.unsure = true
	var totals []int64 // by place in links
	err = c.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		fresh, err := insert(ctx, tx, events)
		if err != nil {
			return err
		}
		totals = totals[:0]
		for _, link := range links {
			n, err := store.One(ctx, tx, store.Value[int64], `INSERT INTO click_count (link_id, clicks) VALUES (?, ?)
				ON CONFLICT (link_id) DO UPDATE SET clicks = click_count.clicks + excluded.clicks
				RETURNING clicks`, link, fresh[link])
			if err != nil {
				return err
			}
			totals = append(totals, n)
			if err := useUp(ctx, tx, number{link, n}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count %d clicks: %w", len(events), err)
	}
	c.unsure = false
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, link := range links {
		if t := c.links[link]; t != nil {
			t.counted += own[link]
			t.learn(totals[i]) // look mends a number that is too small
		}
	}
	return nil
}

// useUp says of a link whether its clicks are used up, also where that was so before: a
// change of the limit under way must not miss these clicks.
func useUp(ctx context.Context, tx *store.Tx, n number) error {
	_, err := tx.Exec(ctx, `UPDATE link SET used_up = (max_clicks IS NOT NULL AND max_clicks <= ?)
		WHERE id = ?`, n.clicks, n.link)
	return err
}

// insert marks events as counted and returns, by link, how many were not.
func insert(ctx context.Context, tx *store.Tx, events []*clicklog.Event) (fresh map[string]int64, err error) {
	fresh = map[string]int64{}
	var args []any
	for _, chunk := range chunks {
		for len(events) >= chunk.rows {
			args = args[:0]
			for _, e := range events[:chunk.rows] {
				args = append(args, e.Link.ID, int64(e.At), e.ID)
			}
			links, err := store.All(ctx, tx, store.Value[string], chunk.query, args...)
			if err != nil {
				return nil, err
			}
			for _, link := range links {
				fresh[link]++
			}
			events = events[chunk.rows:]
		}
	}
	return fresh, nil
}
