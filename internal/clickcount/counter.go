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
	// lookEvery is how often the database is asked for clicks of other
	// processes.
	lookEvery = 500 * time.Millisecond
	// After its last use a link is refreshed for inUse more looks and kept in
	// memory for keptUnused.
	inUse      = 4
	keptUnused = 1200
	// loadTimeout bounds how long a visitor waits for the database.
	loadTimeout = time.Second
	// loadsAtOnce bounds the database connections that visitors keep busy.
	loadsAtOnce = 2
)

// ErrStarting means that clicks of an earlier process are not counted yet.
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

	// counting is held while the numbers of the links in memory are read from
	// the database, so that an older number never replaces a newer one.
	counting sync.Mutex
	// unsure is set when a commit got no answer: the database may have counted
	// clicks that this process believes uncounted. Guarded by counting.
	unsure bool

	mu    sync.Mutex
	links map[string]*tally
	loads map[string]*load
}

// tally is what is known of a link.
type tally struct {
	// others is the number in the database without the clicks of own that it
	// contains. It never falls.
	others int64
	// own counts the clicks taken since the tally was made; counted is how many
	// of them are in the database.
	own, counted int64
	// unused counts the looks since the last use.
	unused int
}

func (t *tally) total() int64 { return t.others + t.own }

// stored is the number that the database has, or had before an older copy took its place.
func (t *tally) stored() int64 { return t.others + t.counted }

// learn takes over the number in the database, and reports whether it has all clicks that
// are known to be counted.
func (t *tally) learn(stored int64) bool {
	if stored < t.stored() {
		return false
	}
	t.others = stored - t.counted
	return true
}

// load is a read of a link's number under way, shared by all who want it.
type load struct {
	done chan struct{}
	err  error
}

// New returns a Counter for the links in db. inherited reports whether the
// click log has events of earlier processes that Count has not been given yet;
// it is called until it returns false.
func New(db *store.DB, inherited func() bool, log *slog.Logger) *Counter {
	return &Counter{
		db: db, log: log, inherited: inherited, slots: make(chan struct{}, loadsAtOnce),
		links: map[string]*tally{}, loads: map[string]*load{},
	}
}

// Clicks returns how many human clicks a link has had, as far as this process
// knows. An error means that it does not know: the database did not answer in
// time, or the error is ErrStarting.
func (c *Counter) Clicks(ctx context.Context, linkID string) (n int64, err error) {
	err = c.with(ctx, linkID, func(t *tally) { n = t.total() })
	return n, err
}

// Take counts a click of a link unless the link has reached limit, and reports
// whether it did. Its errors are those of Clicks. The caller must write a click
// that was taken to the click log as Limited, or give it back.
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

// load makes the tally of a link. The database has counted all clicks of this
// process on it: a link with uncounted clicks is never forgotten.
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
