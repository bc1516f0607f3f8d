package turns

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
)

// Turn is a query that is under way in a Pool. It is for one goroutine.
type Turn struct {
	turns   *Pool
	account *account
	// begun is closed when the query may begin.
	begun chan struct{}

	// The rest is about one Each and guarded by Pool.mu.
	ctx  context.Context
	unit func(worker, i int) error
	// next is the first of units that nobody has taken; busy counts those that workers
	// are at.
	next, units, busy int
	err               error
	// done is closed when no unit is left and no worker is at one.
	done chan struct{}
}

// Each calls unit for 0 to units-1, each once, in this order but several at the same
// time, and returns when none runs any more. Once one has failed or ctx is done, no
// further one begins; Each returns the first error. A panic of a unit is an error.
//
// A unit takes some milliseconds, or ends when ctx does. worker is below the number of
// workers, and two units with the same worker do not run at the same time, so that what
// they need besides can be kept by worker.
func (t *Turn) Each(ctx context.Context, units int, unit func(worker, i int) error) error {
	if units <= 0 {
		return ctx.Err()
	}
	t.turns.add(t, ctx, units, unit)
	select {
	case <-t.done:
	case <-ctx.Done():
		t.turns.drop(t, ctx.Err())
		<-t.done
	}
	return t.err
}

// add puts units into the queue and sets workers to work.
func (t *Pool) add(turn *Turn, ctx context.Context, units int, unit func(worker, i int) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn.ctx, turn.unit, turn.next, turn.units, turn.err, turn.done = ctx, unit, 0, units, nil, make(chan struct{})
	if len(turn.account.ready) == 0 {
		t.ready = append(t.ready, turn.account)
	}
	turn.account.ready = append(turn.account.ready, turn)
	for range min(units, len(t.idle)) {
		last := len(t.idle) - 1
		go t.work(t.idle[last])
		t.idle = t.idle[:last]
	}
}

// work does units as a worker until there is none for it.
func (t *Pool) work(worker int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		turn, i := t.take()
		if turn == nil {
			t.idle = append(t.idle, worker)
			return
		}
		t.mu.Unlock()
		err := turn.run(worker, i)
		runtime.Gosched() // visits go first
		t.mu.Lock()
		turn.busy--
		turn.account.busy--
		if err != nil {
			t.end(turn, err)
		}
		turn.settle()
	}
}

// take returns the unit whose turn it is, nil when there is none or those that are left
// belong to accounts with as many workers as they may have.
func (t *Pool) take() (turn *Turn, i int) {
	place := slices.IndexFunc(t.ready, func(a *account) bool { return a.busy < t.most })
	if place < 0 {
		return nil, 0
	}
	a := t.ready[place]
	t.ready = slices.Delete(t.ready, place, place+1)
	turn = a.ready[0]
	a.ready = slices.Delete(a.ready, 0, 1)
	i = turn.next
	turn.next++
	if turn.next < turn.units {
		a.ready = append(a.ready, turn)
	}
	if len(a.ready) > 0 {
		t.ready = append(t.ready, a)
	}
	turn.busy++
	a.busy++
	return turn, i
}

// run does a unit.
func (t *Turn) run(worker, i int) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a heavy read: %v\n%s", cause, debug.Stack())
		}
	}()
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return t.unit(worker, i)
}

// drop ends a query whose client is gone or whose time is over.
func (t *Pool) drop(turn *Turn, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.next < turn.units {
		t.end(turn, err)
		turn.settle()
	}
}

// end makes an error the result of a query, unless it has one, and takes the units that
// are left out of the queue.
func (t *Pool) end(turn *Turn, err error) {
	if turn.err == nil {
		turn.err = err
	}
	if turn.next == turn.units {
		return
	}
	turn.next = turn.units
	a := turn.account
	a.ready = slices.DeleteFunc(a.ready, func(other *Turn) bool { return other == turn })
	if len(a.ready) == 0 {
		t.ready = slices.DeleteFunc(t.ready, func(other *account) bool { return other == a })
	}
}

// settle tells Each when nothing is left to wait for.
func (t *Turn) settle() {
	if t.next == t.units && t.busy == 0 {
		close(t.done)
	}
}
