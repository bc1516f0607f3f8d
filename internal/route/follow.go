package route

import (
	"context"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// pollEvery bounds how late a process learns what another process
	// published.
	pollEvery = 200 * time.Millisecond
	// pollAtMost is how many changes are read at once.
	pollAtMost = 1000
)

// Follow keeps the cache up to date until ctx is done: at once with what this
// process publishes, within pollEvery with what other processes publish. While
// the database is away the cache goes on with what it has, and catches up
// afterwards. Only one Follow may run at a time.
func (c *Cache) Follow(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	f := follower{cache: c}
	var failing bool
	for {
		err := f.poll(ctx)
		if ctx.Err() != nil {
			return
		}
		if (err != nil) != failing { // one line for each outage, not five a second
			if failing = err != nil; failing {
				c.log.Warn("routes cannot be followed, going on with those at hand", "error", err)
			} else {
				c.log.Info("routes are followed again")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-c.wake:
		}
	}
}

// follower reads the changes in their order.
type follower struct {
	cache *Cache
	// begun is set once at is known, the last change that the cache reflects.
	begun bool
	at    int64
}

type change struct {
	seq   int64
	key   key
	least int64 // the least number there is
}

func scanChange(r store.Row) (ch change, err error) {
	err = r.Scan(&ch.seq, &ch.key.hostname, &ch.key.path, &ch.least)
	return ch, err
}

// poll takes over the changes since the last one.
func (f *follower) poll(ctx context.Context) error {
	if !f.begun {
		return f.begin(ctx)
	}
	for {
		n, err := f.step(ctx)
		if err != nil {
			return fmt.Errorf("follow routes after change %d: %w", f.at, err)
		}
		if n < pollAtMost {
			return nil
		}
	}
}

// begin starts at the newest change, and then drops everything read before,
// which may be older, and reads all hostnames.
func (f *follower) begin(ctx context.Context) (err error) {
	f.begun = false
	reading, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	f.at, err = store.One(reading, f.cache.db, store.Value[int64], "SELECT value FROM sequence WHERE name = 'route_change'")
	if err != nil {
		return fmt.Errorf("follow routes: %w", err)
	}
	f.cache.clear()
	if err := f.cache.hosts.load(ctx, f.cache.db); err != nil {
		return err
	}
	f.begun = true
	f.cache.followed.Store(true)
	return nil
}

// step takes over the next few changes and returns how many there were.
func (f *follower) step(ctx context.Context) (int, error) {
	reading, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	changes, err := store.All(reading, f.cache.db, scanChange, `SELECT seq, hostname, path, (SELECT MIN(seq)
		FROM route_change)
		FROM route_change WHERE seq > ? ORDER BY seq LIMIT ?`, f.at, pollAtMost)
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	// If the smallest number left is not the next one, changes in between may
	// have been pruned.
	if changes[0].least > f.at+1 {
		f.cache.log.Warn("changes of routes were missed, starting afresh", "after", f.at, "next", changes[0].least)
		return len(changes), f.begin(ctx)
	}
	for _, ch := range changes {
		if err := f.cache.refresh(ctx, ch.key); err != nil {
			return 0, err
		}
		if ch.key.path == "" {
			if err := f.cache.hosts.refresh(ctx, f.cache.db, ch.key.hostname); err != nil {
				return 0, err
			}
		}
		f.at = ch.seq
	}
	return len(changes), nil
}
