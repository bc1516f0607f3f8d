package clickcount

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
)

// Count counts the limited clicks of a batch of the click log, each exactly
// once, even if the log hands it out again. Do not pass the same batch again
// after Count returned nil. Only one Count may run at a time.
func (c *Counter) Count(ctx context.Context, b *clicklog.Batch) (err error) {
	defer fault.Wrap(&err, "clickcount.Count(%d events)", len(b.Events))
	all := map[string]int64{} // by link
	count(all, b.Events)
	if len(all) == 0 {
		return nil
	}
	own := map[string]int64{}
	count(own, b.Events[b.Inherited:])
	// Processes that count the same links meet in the same order.
	links := slices.Sorted(maps.Keys(all))
	c.counting.Lock()
	defer c.counting.Unlock()
	c.unsure = true
	var totals []int64 // by place in links
	err = c.db.InTxReadCommitted(ctx, func(tx *store.Tx) (err error) {
		totals, err = add(ctx, tx, b, links)
		return err
	})
	if err != nil {
		return err
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

// count counts the limited clicks among events by link.
func count(clicks map[string]int64, events []clicklog.Event) {
	for i := range events {
		if e := &events[i]; e.Limited {
			clicks[e.Link.ID]++
		}
	}
}

// add adds the clicks of a batch that are not counted yet to the numbers of links, which
// it returns.
func add(ctx context.Context, tx *store.Tx, b *clicklog.Batch, links []string) (totals []int64, err error) {
	events, err := loaded.Clicks.Advance(ctx, tx, b)
	if err != nil {
		return nil, err
	}
	fresh := map[string]int64{}
	for _, run := range events {
		count(fresh, run)
	}
	for _, link := range links {
		n, err := store.One(ctx, tx, store.Value[int64], `INSERT INTO click_count (link_id, clicks) VALUES (?, ?)
			ON CONFLICT (link_id) DO UPDATE SET clicks = click_count.clicks + excluded.clicks
			RETURNING clicks`, link, fresh[link])
		if err != nil {
			return nil, fmt.Errorf("link %s: %w", link, err)
		}
		totals = append(totals, n)
		if err := useUp(ctx, tx, number{link, n}); err != nil {
			return nil, fmt.Errorf("link %s: %w", link, err)
		}
	}
	return totals, nil
}

// useUp says of a link whether its clicks are used up, also where that was so before: a
// change of the limit under way must not miss these clicks.
func useUp(ctx context.Context, tx *store.Tx, n number) error {
	_, err := tx.Exec(ctx, `UPDATE link SET used_up = (max_clicks IS NOT NULL AND max_clicks <= ?)
		WHERE id = ?`, n.clicks, n.link)
	return err
}
