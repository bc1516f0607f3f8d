package clickcount

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
)

// atOnce is how many links are asked for by one statement.
const atOnce = 100

// Run learns of the clicks of other processes until ctx is done. While the
// database is away the Counter goes on with what it has.
func (c *Counter) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	replaced := c.db.Listen(store.HistoryTopic)
	var failing bool
	for {
		select {
		case <-ctx.Done():
			return
		case <-replaced:
			c.useAll()
		case <-ticker.C:
		}
		err := c.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if (err != nil) != failing { // one line for each outage
			if failing = err != nil; failing {
				c.log.Warn("clicks that other processes count are not known", "error", err)
			} else {
				c.log.Info("clicks that other processes count are known again")
			}
		}
	}
}

type number struct {
	link   string
	clicks int64
}

func scanNumber(r store.Row) (n number, err error) {
	err = r.Scan(&n.link, &n.clicks)
	return n, err
}

// look brings the links in use up to date and then forgets those that have not
// been used for long; nothing is forgotten while the database is away.
func (c *Counter) look(ctx context.Context) error {
	c.counting.Lock()
	defer c.counting.Unlock()
	if c.unsure { // until the same clicks are counted again
		return nil
	}
	for links := range slices.Chunk(c.used(), atOnce) {
		if err := c.lookAt(ctx, links); err != nil {
			return fmt.Errorf("clicks of %d links: %w", len(links), err)
		}
	}
	c.forget()
	return nil
}

// lookAt brings some links up to date.
func (c *Counter) lookAt(ctx context.Context, links []string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	args := make([]any, atOnce) // one statement for any number
	for i := range args {
		args[i] = links[min(i, len(links)-1)]
	}
	numbers, err := store.All(ctx, c.db, scanNumber, "SELECT link_id, clicks FROM click_count WHERE link_id IN ("+
		store.Marks(atOnce)+")", args...)
	if err != nil {
		return err
	}
	return c.mend(ctx, c.learn(links, numbers))
}

// learn takes over the numbers of links in the database, and returns those that are too
// small there: an older copy, which has lost clicks, has taken the place of the database.
func (c *Counter) learn(links []string, numbers []number) (lost []number) {
	stored := map[string]int64{}
	for _, n := range numbers {
		stored[n.link] = n.clicks
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, link := range links {
		if t := c.links[link]; !t.learn(stored[link]) {
			lost = append(lost, number{link, t.stored()})
		}
	}
	return lost
}

// mend brings lost clicks back into the database, so that no process lets them in again.
// Several may do so at once. What was counted meanwhile is taken for some of them.
func (c *Counter) mend(ctx context.Context, lost []number) error {
	if len(lost) == 0 {
		return nil
	}
	c.log.Warn("the database has lost clicks of links with a limit, they are stored again", "links", len(lost))
	slices.SortFunc(lost, func(a, b number) int { return cmp.Compare(a.link, b.link) })
	return c.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		for _, n := range lost {
			// Another process may have counted further meanwhile.
			changed, err := tx.Exec(ctx, `INSERT INTO click_count (link_id, clicks) VALUES (?, ?)
				ON CONFLICT (link_id) DO UPDATE SET clicks = excluded.clicks WHERE click_count.clicks < excluded.clicks`,
				n.link, n.clicks)
			if err == nil && changed > 0 {
				err = useUp(ctx, tx, n)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// useAll has the next look ask for all links in memory.
func (c *Counter) useAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.links {
		t.unused = 0
	}
}

// used lists the links that were used since some looks ago.
func (c *Counter) used() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var links []string
	for link, t := range c.links {
		if t.unused++; t.unused <= inUse {
			links = append(links, link)
		}
	}
	return links
}

// forget drops the links that nobody asks for. It keeps a link with uncounted
// clicks: the database could not tell their number.
func (c *Counter) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for link, t := range c.links {
		if t.unused > keptUnused && t.own == t.counted {
			delete(c.links, link)
		}
	}
}
