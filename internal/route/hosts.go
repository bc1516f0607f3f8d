package route

import (
	"context"
	"fmt"
	"sync"

	"github.com/waymarkhq/waymark/internal/store"
)

// hostsAtOnce is how many hostnames are read at once.
const hostsAtOnce = 1000

// hosts are the hostnames that have a route of their own: those that are served. All of
// them are held, some hundred bytes each, so that names that are not served can be
// refused without a look at the database.
type hosts struct {
	mu  sync.RWMutex
	all map[string]struct{}
}

// Serves reports whether a hostname is served, from memory. Follow must run.
func (c *Cache) Serves(hostname string) bool {
	c.hosts.mu.RLock()
	defer c.hosts.mu.RUnlock()
	_, ok := c.hosts.all[hostname]
	return ok
}

// load reads all hostnames anew.
func (h *hosts) load(ctx context.Context, db *store.DB) error {
	all := map[string]struct{}{}
	for last := ""; ; {
		reading, cancel := context.WithTimeout(ctx, loadTimeout)
		some, err := store.All(reading, db, store.Value[string], `SELECT hostname FROM route WHERE path = ''
			AND hostname > ? ORDER BY hostname LIMIT ?`, last, hostsAtOnce)
		cancel()
		if err != nil {
			return fmt.Errorf("load hostnames: %w", err)
		}
		for _, hostname := range some {
			all[hostname] = struct{}{}
		}
		if len(some) < hostsAtOnce {
			break
		}
		last = some[len(some)-1]
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = all
	return nil
}

// set takes over a change of a hostname's own route.
func (h *hosts) set(hostname string, served bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if served {
		h.all[hostname] = struct{}{}
	} else {
		delete(h.all, hostname)
	}
}
