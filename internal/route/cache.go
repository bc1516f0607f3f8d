package route

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/maypok86/otter/v2"

	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// capacity bounds the memory for routes, by estimate: some 30,000 links
	// of ordinary size. It counts bytes because a link's texts and addresses
	// may well be fifty times longer than another's.
	capacity = 64 << 20
	// absentCapacity bounds the memory for addresses that are unknown.
	absentCapacity = 8 << 20
	// loadTimeout bounds how long a visitor waits for the database.
	loadTimeout = time.Second
	// loadsAtOnce bounds the database connections that visitors of unknown
	// addresses can keep busy.
	loadsAtOnce = 4
)

// Cache answers lookups of routes from memory, and reads from the database
// what it does not hold. Follow must run for it to learn of changes.
//
// Routes and absent addresses are kept apart: a flood of random hostnames or
// paths pushes out other unknown addresses and never a route. Each address of
// such a flood costs one point read. Only a few of these reads run at once, so
// the rest of the process keeps its database connections. An unknown hostname
// costs one read, whatever paths are asked for on it.
type Cache struct {
	db        *store.DB
	log       *slog.Logger
	present   *otter.Cache[key, entry]
	absent    *otter.Cache[key, struct{}]
	slots     chan struct{}
	wake      <-chan struct{}
	hosts     hosts
	templates templates
	paths     *paths
	// followed is set once Follow knows its place in the sequence of changes.
	followed atomic.Bool

	// mu guards loads, and the caches against a load that was overtaken: a
	// load stores its answer only while it is still registered here, and when
	// the answer reflects the changes since it began. Readers of the caches do
	// not take it.
	mu    sync.Mutex
	loads map[key]*load
	// newest is the newest change that is reflected by something that was kept.
	newest change
}

// key is an address; path "" is the hostname itself.
type key struct{ hostname, path string }

// entry is a route: one of host and link is set, or neither for an absent
// route.
type entry struct {
	host *Host
	link *Link
	// bytes estimates the memory it takes.
	bytes uint32
}

// weight estimates the memory of a key and what the cache needs to hold it.
func (k key) weight() uint32 { return uint32(len(k.hostname)+len(k.path)) + 160 }

// load is a read of one route under way, shared by all who want it.
type load struct {
	done   chan struct{}
	entry  entry
	newest change
	err    error
	// behind is the number of the newest change of the address since the load began, 0 when
	// there is none. Who asks after that change does not wait for this load.
	behind int64
}

// NewCache returns an empty cache of db's routes.
func NewCache(db *store.DB, log *slog.Logger) *Cache {
	return newCache(db, log, capacity, absentCapacity)
}

func newCache(db *store.DB, log *slog.Logger, present, absent uint64) *Cache {
	return &Cache{
		db:  db,
		log: log,
		present: otter.Must(&otter.Options[key, entry]{
			MaximumWeight: present,
			Weigher:       func(k key, e entry) uint32 { return k.weight() + e.bytes },
		}),
		absent: otter.Must(&otter.Options[key, struct{}]{
			MaximumWeight: absent,
			Weigher:       func(k key, _ struct{}) uint32 { return k.weight() },
		}),
		slots: make(chan struct{}, loadsAtOnce),
		wake:  db.Listen(Topic),
		loads: map[key]*load{}, templates: newTemplates(templateCapacity), paths: newPaths(),
	}
}

// Ready reports whether the cache has reached the database since the start.
func (c *Cache) Ready() bool { return c.followed.Load() }

// Host returns the settings of a hostname, nil when it is unknown. The result
// is shared and must not be changed. An error means that the database is away
// or does not answer in time.
func (c *Cache) Host(ctx context.Context, hostname string) (*Host, error) {
	e, err := c.lookup(ctx, key{hostname, ""})
	if err != nil {
		return nil, fmt.Errorf("route.Host(%q): %w", hostname, err)
	}
	return e.host, nil
}

// Link returns the link at a path of a hostname, nil when there is none; the
// rest is as for Host.
func (c *Cache) Link(ctx context.Context, hostname, path string) (*Link, error) {
	e, err := c.lookup(ctx, key{hostname, path})
	if err != nil {
		return nil, fmt.Errorf("route.Link(%q): %w", hostname, err) // the path is the visitor's
	}
	return e.link, nil
}

func (c *Cache) lookup(ctx context.Context, k key) (entry, error) {
	if e, ok := c.present.GetIfPresent(k); ok {
		return e, nil
	}
	if _, ok := c.absent.GetIfPresent(k); ok {
		return entry{}, nil
	}
	return c.miss(ctx, k)
}

// miss reads a route, or waits for the read that is already under way.
func (c *Cache) miss(ctx context.Context, k key) (entry, error) {
	c.mu.Lock()
	l := c.loads[k]
	running := l != nil && l.behind == 0
	if !running {
		// The caller's strings are part of a whole request.
		k = key{strings.Clone(k.hostname), strings.Clone(k.path)}
		l = &load{done: make(chan struct{})}
		c.loads[k] = l
	}
	c.mu.Unlock()
	if running {
		select {
		case <-l.done:
			return l.entry, l.err
		case <-ctx.Done():
			return entry{}, ctx.Err()
		}
	}
	// Others wait for this read: it must not end with this visitor's patience.
	l.entry, l.newest, l.err = c.read(context.WithoutCancel(ctx), k)
	c.end(k, l)
	return l.entry, l.err
}

// end keeps what a load has read, unless a change overtook it, and answers who waits for it.
func (c *Cache) end(k key, l *load) {
	c.mu.Lock()
	if c.loads[k] == l {
		delete(c.loads, k)
		if l.err == nil && l.newest.seq >= l.behind {
			c.keep(k, l.entry)
			c.note(l.newest)
		}
	}
	c.mu.Unlock()
	close(l.done)
}

// keep stores what was read. c.mu is held.
func (c *Cache) keep(k key, e entry) {
	if e == (entry{}) {
		c.absent.Set(k, struct{}{})
		c.present.Invalidate(k)
		return
	}
	c.present.Set(k, e)
	c.absent.Invalidate(k)
}

// refresh takes over a change: it tells a load under way, and reads the
// route again if it is held or a hostname's own. When that fails, what is held stays, so
// that the link keeps working, and the change must be tried again.
func (c *Cache) refresh(ctx context.Context, ch change) error {
	k := ch.key
	c.mu.Lock()
	if l := c.loads[k]; l != nil {
		l.behind = ch.seq
	}
	c.mu.Unlock()
	_, present := c.present.GetEntryQuietly(k)
	_, absent := c.absent.GetEntryQuietly(k)
	held := present || absent
	if !held && k.path != "" {
		return nil
	}
	e, newest, err := c.read(ctx, k)
	if err != nil {
		return err
	}
	if k.path == "" {
		c.hosts.set(k.hostname, e.host != nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if held {
		c.keep(k, e)
	}
	c.note(newest)
	return nil
}

// note notes the newest change when something was read that is kept. c.mu is held.
func (c *Cache) note(newest change) {
	if newest.seq > c.newest.seq {
		c.newest = newest
	}
}

// saw is note without c.mu.
func (c *Cache) saw(newest change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(newest)
}

// seen returns the newest change that is reflected by something that is kept.
func (c *Cache) seen() change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest
}

// clear forgets everything.
func (c *Cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.loads)
	c.newest = change{}
	c.present.InvalidateAll()
	c.absent.InvalidateAll()
	c.templates.held.InvalidateAll()
	c.paths.InvalidateAll()
}

// takeSlot waits until a visitor may keep one more connection of the database busy;
// freeSlot gives it back.
func (c *Cache) takeSlot(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the database: %w", ctx.Err())
	}
}

func (c *Cache) freeSlot() { <-c.slots }

// read gets one route from the database, the empty entry when there is none, and the
// newest change that it reflects.
func (c *Cache) read(ctx context.Context, k key) (e entry, newest change, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	if err := c.takeSlot(ctx); err != nil {
		return e, newest, fmt.Errorf("route of %q %q: %w", k.hostname, k.path, err)
	}
	defer c.freeSlot()
	var document *string
	newest, err = store.One(ctx, c.db, func(r store.Row) (change, error) { return scanChange(r, &document) },
		"SELECT (SELECT document FROM route WHERE hostname = ? AND path = ?), "+newestChange, k.hostname, k.path)
	switch {
	case err != nil:
	case document == nil:
		return entry{}, newest, nil
	case k.path == "":
		e = entry{host: &Host{}, bytes: uint32(160 + len(*document))}
		err = json.Unmarshal([]byte(*document), e.host)
	default:
		// Measured on links with one to three destinations and up to fifty
		// rules; what is prepared repeats them.
		e = entry{link: &Link{}, bytes: uint32(1200 + 2*len(*document))}
		if err = json.Unmarshal([]byte(*document), e.link); err == nil {
			e.link.plan = newPlan(e.link)
			e.bytes += uint32(e.link.plan.bytes())
		}
	}
	if err != nil {
		return entry{}, newest, fmt.Errorf("route of %q %q: %w", k.hostname, k.path, err)
	}
	return e, newest, nil
}
