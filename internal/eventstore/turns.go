package eventstore

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
	// appRunning is how many queries of an app share its turns, and allRunning how many
	// of all apps: each of them holds what it has found so far.
	appRunning, allRunning = 4, 32
	// appWaiting is how many queries of an app wait to be among those, and allWaiting how
	// many of all apps.
	appWaiting, allWaiting = 4, 256
)

// ErrBusy is the refusal of a query that there is no room for.
var ErrBusy error = &fault.Error{Code: fault.Unavailable, RetryAfter: 1,
	Message: "Too many questions about events are open. Wait for Retry-After and ask again."}

// ErrSlow is the refusal of a query that was not answered by its deadline.
var ErrSlow error = &fault.Error{Code: fault.Unavailable, RetryAfter: 10,
	Message: "The question about events was not answered within 10 seconds. Ask about a shorter period, or again later."}

// Turns is the one pool of workers for the heavy reads of a process. The work of a
// query is cut into units, and workers take the next unit of the next app in turn, and
// of its queries the next in turn. So an app that asks for much waits for itself, and
// the others for a few units at most. It is safe for concurrent use.
//
// Where there are several workers, one of them is always left to other apps: a unit may
// be long, too, where it is a statement of a database.
type Turns struct {
	// most is how many workers an app may have at once.
	most int
	mu   sync.Mutex
	// idle are the workers that have nothing to do. They have no goroutine.
	idle []int
	// ready are the apps that have units left; whose turn is next stands first.
	ready []*appTurns
	apps  map[string]*appTurns
	// running counts the queries under way; waiting are the others, by arrival.
	running int
	waiting []*Turn
	refused int64
}

// appTurns is what Turns know of an app with queries; guarded by Turns.mu.
type appTurns struct {
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

// NewTurns returns Turns with a number of workers. It needs no end: workers live only
// while there is work.
func NewTurns(workers int) *Turns {
	t := &Turns{most: max(1, workers-1), apps: map[string]*appTurns{}}
	for worker := range workers {
		t.idle = append(t.idle, worker)
	}
	return t
}

// Do runs a query of an app as soon as it is among the few of its app that share its
// turns, and returns its error. The query runs in the goroutine of the caller: it finds
// out there what is to be read, and lets workers do what takes long (Turn.Each). ctx of
// the query ends with that of Do, and at the deadline, 10 seconds from now.
//
// Do returns ErrBusy at once when too many queries wait, of the app or of all, and
// ErrSlow at the deadline.
func (t *Turns) Do(ctx context.Context, app string, query func(context.Context, *Turn) error) error {
	return InTime(ctx, func(ctx context.Context) error {
		turn := &Turn{turns: t, begun: make(chan struct{})}
		if err := t.enter(ctx, app, turn); err != nil {
			return err
		}
		defer t.leave(turn)
		return query(ctx, turn)
	})
}

// Load is what Turns have to do at a moment.
type Load struct {
	// Running and Waiting count queries.
	Running, Waiting int
	// Refused is how many queries got ErrBusy so far.
	Refused int64
}

// Load returns the numbers for metrics.
func (t *Turns) Load() Load {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Load{t.running, len(t.waiting), t.refused}
}

// enter returns when a query may begin, with an error when it may not.
func (t *Turns) enter(ctx context.Context, id string, turn *Turn) error {
	t.mu.Lock()
	app := t.apps[id]
	if app == nil {
		app = &appTurns{id: id}
		t.apps[id] = app
	}
	turn.app = app
	switch {
	case app.running < appRunning && t.running < allRunning:
		t.begin(turn)
	case app.waiting < appWaiting && len(t.waiting) < allWaiting:
		app.waiting++
		t.waiting = append(t.waiting, turn)
	default:
		t.refused++
		t.forget(app)
		t.mu.Unlock()
		return ErrBusy
	}
	t.mu.Unlock()
	select {
	case <-turn.begun:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, turn)
	if i >= 0 {
		app.waiting--
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.forget(app)
	}
	t.mu.Unlock()
	if i < 0 { // it began at the same moment
		t.leave(turn)
	}
	return ctx.Err()
}

func (t *Turns) begin(turn *Turn) {
	turn.app.running++
	t.running++
	close(turn.begun)
}

// leave gives the place of a query to one that waits: of the apps that may have
// another, the one with the fewest, and of these the query that has waited longest.
func (t *Turns) leave(turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn.app.running--
	t.running--
	next := -1
	for i, w := range t.waiting {
		if w.app.running < appRunning && (next < 0 || w.app.running < t.waiting[next].app.running) {
			next = i
		}
	}
	if next >= 0 {
		first := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		first.app.waiting--
		t.begin(first)
	}
	t.forget(turn.app)
}

// forget drops an app that has no query any more.
func (t *Turns) forget(app *appTurns) {
	if app.running+app.waiting == 0 {
		delete(t.apps, app.id)
	}
}
