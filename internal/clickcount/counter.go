package clickcount

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// lookEvery is how often the database is asked for others' clicks.
	lookEvery = 500 * time.Millisecond
	// inUse is for how many looks after its last use a link is looked for, and
	// keptUnused for how many it stays in memory.
	inUse      = 4
	keptUnused = 1200
	// loadTimeout bounds how long a visitor waits for the database.
	loadTimeout = time.Second
	// loadsAtOnce bounds the database connections that visitors keep busy.
	loadsAtOnce = 4
)

// ErrStarting tells that clicks of an earlier process are not counted yet.
var ErrStarting = errors.New("the clicks of an earlier process are not counted yet")

// Counter knows how many clicks links have had. It is safe for concurrent use;
// Run must run for it to learn of other processes' clicks.
type Counter struct {
	db  *store.DB
	log *slog.Logger
	// inherited reports whether clicks of earlier processes are left to count;
	// begun is set once there are none.
	inherited func() bool
	begun     atomic.Bool
	slots     chan struct{}

	// counting is held by whoever learns what is in the database of the links
	// that are held, so that nothing older comes after something newer.
	counting sync.Mutex
	// unsure tells that the database may have counted what we do not know of:
	// a commit whose answer did not come. Guarded by counting.
	unsure bool

	mu    sync.Mutex
	links map[string]*tally
	loads map[string]*load
}

// tally is what is known of a link.
type tally struct {
	// others is the database's number without those of own that it has.
	others int64
	// own are the clicks taken since the tally was made, counted how many of
	// them are in the database.
	own, counted int64
	// unused counts the looks since the last use.
	unused int
}

func (t *tally) total() int64 { return t.others + t.own }

// load is a read of a link's number under way, shared by all who want it.
type load struct {
	done chan struct{}
	err  error
}

// New returns a Counter of db's links. inherited reports whether the click log
// has events of earlier processes that are not given to Count yet; it is asked
// until it says no.
func New(db *store.DB, inherited func() bool, log *slog.Logger) *Counter {
	return &Counter{
		db: db, log: log, inherited: inherited, slots: make(chan struct{}, loadsAtOnce),
		links: map[string]*tally{}, loads: map[string]*load{},
	}
}

// Clicks returns how many human clicks a link has had, as far as this process
// knows. An error means that it does not: the database did not tell in time, or
// ErrStarting.
func (c *Counter) Clicks(ctx context.Context, linkID string) (n int64, err error) {
	err = c.with(ctx, linkID, func(t *tally) { n = t.total() })
	return n, err
}

// Take counts a click of a link, unless it has had limit of them, and reports
// whether it did. Errors are those of Clicks. What was taken must be written to
// the click log as Limited, or given back.
func (c *Counter) Take(ctx context.Context, linkID string, limit int64) (taken bool, err error) {
	err = c.with(ctx, linkID, func(t *tally) {
		if taken = t.total() < limit; taken {
			t.own++
		}
	})
	return taken, err
}

// GiveBack undoes a Take of a click that was not written.
func (c *Counter) GiveBack(linkID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links[linkID].own-- // which kept it there
}

// with calls f with the tally of a link, which is read on its first use.
func (c *Counter) with(ctx context.Context, linkID string, f func(*tally)) error {
	for {
		c.mu.Lock()
		if t := c.links[linkID]; t != nil {
			t.unused = 0
			f(t)
			c.mu.Unlock()
			return nil
		}
		l, running := c.loads[linkID]
		if !running {
			l = &load{done: make(chan struct{})}
			c.loads[linkID] = l
		}
		c.mu.Unlock()
		if !running {
			// Others wait for this read: it must not end with this visitor's
			// patience.
			c.load(context.WithoutCancel(ctx), linkID, l)
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if l.err != nil {
			return l.err
		}
	}
}

// load makes the tally of a link. None of its clicks by this process are still
// to be counted: it would not have been forgotten.
func (c *Counter) load(ctx context.Context, linkID string, l *load) {
	n, err := c.read(ctx, linkID)
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.err = err; err == nil {
		c.links[linkID] = &tally{others: n}
	}
	delete(c.loads, linkID)
	close(l.done)
}

func (c *Counter) read(ctx context.Context, linkID string) (n int64, err error) {
	if !c.begun.Load() {
		if c.inherited() {
			return 0, ErrStarting
		}
		c.begun.Store(true)
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
		n, err = store.One(ctx, c.db, store.Value[int64], "SELECT clicks FROM click_count WHERE link_id = ?", linkID)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("clicks of link %s: %w", linkID, err)
	}
	return n, nil
}
