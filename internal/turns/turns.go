// Package turns shares workers among accounts for reads that may take seconds: who asks for
// much waits for itself.
package turns

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// deadline bounds a query with all its waiting.
	deadline = 10 * time.Second
	// accountRunning is how many queries of an account share its turns, and allRunning how many
	// of all accounts: each of them holds what it has found so far.
	accountRunning, allRunning = 4, 32
	// accountWaiting is how many queries of an account wait to be among those, and allWaiting how
	// many of all accounts.
	accountWaiting, allWaiting = 16, 512
)

// ErrBusy is the refusal of a query that there is no room for.
var ErrBusy error = &fault.Error{Code: fault.Unavailable, RetryAfter: 1,
	Message: "Too many long reads are open. Wait for Retry-After and ask again."}

// ErrSlow is the refusal of a query that was not answered by its deadline.
var ErrSlow error = &fault.Error{Code: fault.Unavailable, RetryAfter: 10,
	Message: "The answer was not found within 10 seconds. Ask about a shorter period or with fewer filters, or ask again later."}

// Pool is a pool of workers for heavy reads. The work of a
// query is cut into units, and workers take the next unit of the next account in turn, and
// of its queries the next in turn. So an account that asks for much waits for itself, and
// the others for a few units at most. It is safe for concurrent use.
//
// Where there are several workers, one of them is always left to other accounts: a unit may
// be long, too, where it is a statement of a database.
type Pool struct {
	// most is how many workers an account may have at once.
	most int
	mu   sync.Mutex
	// idle are the workers that have nothing to do. They have no goroutine.
	idle []int
	// ready are the accounts that have units left; whose turn is next stands first.
	ready    []*account
	accounts map[string]*account
	// running counts the queries under way; waiting are the others, by arrival.
	running int
	waiting []*Turn
	refused int64
}

// account is what a Pool knows of an account with queries; guarded by Pool.mu.
type account struct {
	id string
	// running and waiting count its queries, busy its workers.
	running, waiting, busy int
	// ready are the queries that have units left; whose turn is next stands first.
	ready []*Turn
}

// Workers is how many workers the reads get that use this machine's processors: half of
// the processors, and at least one. Visits and calls of the API take microseconds and
// find a free processor at once as long as one is left to them; a processor for each
// would make them wait for slices of 10 ms.
func Workers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// New returns a Pool with a number of workers. It needs no end: workers live only
// while there is work.
func New(workers int) *Pool {
	t := &Pool{most: max(1, workers-1), accounts: map[string]*account{}}
	for worker := range workers {
		t.idle = append(t.idle, worker)
	}
	return t
}

// Do runs a query of an account as soon as it is among the few of its account that share its
// turns, and returns its error. The query runs in the goroutine of the caller: it finds
// out there what is to be read, and lets workers do what takes long (Turn.Each). ctx of
// the query ends with that of Do, and at the deadline, 10 seconds from now.
//
// Do returns ErrBusy at once when too many queries wait, of the account or of all. At the
// deadline it returns ErrBusy for a query that still waits, and ErrSlow for one that has begun.
func (t *Pool) Do(ctx context.Context, account string, query func(context.Context, *Turn) error) error {
	return InTime(ctx, func(ctx context.Context) error {
		turn := &Turn{turns: t, begun: make(chan struct{})}
		if err := t.enter(ctx, account, turn); err != nil {
			return err
		}
		defer t.leave(turn)
		return query(ctx, turn)
	})
}

// Load is what a Pool has to do at a moment.
type Load struct {
	// Running and Waiting count queries.
	Running, Waiting int
	// Refused is how many queries got ErrBusy so far.
	Refused int64
}

// Load returns the numbers for metrics.
func (t *Pool) Load() Load {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Load{t.running, len(t.waiting), t.refused}
}

// enter returns when a query may begin, with an error when it may not.
func (t *Pool) enter(ctx context.Context, id string, turn *Turn) error {
	t.mu.Lock()
	a := t.accounts[id]
	if a == nil {
		a = &account{id: id}
		t.accounts[id] = a
	}
	turn.account = a
	switch {
	case a.running < accountRunning && t.running < allRunning:
		t.begin(turn)
	case a.waiting < accountWaiting && len(t.waiting) < allWaiting:
		a.waiting++
		t.waiting = append(t.waiting, turn)
	default:
		t.refused++
		t.forget(a)
		t.mu.Unlock()
		return ErrBusy
	}
	t.mu.Unlock()
	select {
	case <-turn.begun:
		return nil
	case <-ctx.Done():
	}
	// It waited for other queries until the deadline. A shorter question would have, too.
	busy := context.Cause(ctx) == ErrSlow
	t.mu.Lock()
	if busy {
		t.refused++
	}
	i := slices.Index(t.waiting, turn)
	if i >= 0 {
		a.waiting--
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.forget(a)
	}
	t.mu.Unlock()
	if i < 0 { // it began at the same moment
		t.leave(turn)
	}
	if busy {
		return ErrBusy
	}
	return ctx.Err()
}

func (t *Pool) begin(turn *Turn) {
	turn.account.running++
	t.running++
	close(turn.begun)
}

// leave gives the place of a query to one that waits: of the accounts that may have
// another, the one with the fewest, and of these the query that has waited longest.
func (t *Pool) leave(turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn.account.running--
	t.running--
	next := -1
	for i, w := range t.waiting {
		if w.account.running < accountRunning && (next < 0 || w.account.running < t.waiting[next].account.running) {
			next = i
		}
	}
	if next >= 0 {
		first := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		first.account.waiting--
		t.begin(first)
	}
	t.forget(turn.account)
}

// forget drops an account that has no query any more.
func (t *Pool) forget(a *account) {
	if a.running+a.waiting == 0 {
		delete(t.accounts, a.id)
	}
}
