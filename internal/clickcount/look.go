package clickcount

import (
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
	var failing bool
	for {
		select {
		case <-ctx.Done():
			return
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
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	for links := range slices.Chunk(c.used(), atOnce) {
		args := make([]any, atOnce) // one statement for any number
		for i := range args {
			args[i] = links[min(i, len(links)-1)]
		}
		numbers, err := store.All(ctx, c.db, scanNumber, "SELECT link_id, clicks FROM click_count WHERE link_id IN ("+
			store.Marks(atOnce)+")", args...)
		if err != nil {
			return fmt.Errorf("clicks of %d links: %w", len(links), err)
		}
		c.mu.Lock()
		for _, n := range numbers {
			t := c.links[n.link]
			t.others = n.clicks - t.counted
		}
		c.mu.Unlock()
	}
	c.forget()
	return nil
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
