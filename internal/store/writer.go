package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// writer does all the writing to SQLite, on one connection. Transactions that
// wait for it share a commit, because to bring a commit to the disk costs as
// much as to run many of them: each runs in its caller's goroutine, one after
// the other, behind a savepoint of its own, and hands the open transaction on;
// the last one commits, and only then do all of them return.
type writer struct {
	uninterrupted
	mu    sync.Mutex
	taken bool
	// waiting are the callers that wait for their turn, the longest wait first.
	// Each channel has room for the group that the turn belongs to.
	waiting []chan *group
	// file is the database's; idle runs shrinkLog, until the writer is closed.
	file   string
	idle   *time.Timer
	closed bool
}

const (
	// maxGroup is how many transactions may share a commit.
	maxGroup = 64
	// maxShared is how long a group lets further transactions in, so that a long
	// one does not keep the others from their commit for longer than itself.
	maxShared = 10 * time.Millisecond
)

// group is what shares one commit.
type group struct {
	// shared: there may be more than one member, so each needs a savepoint.
	shared bool
	// open: the transaction was begun.
	open bool
	// room is how many more transactions may join, until the time is over.
	room  int
	until time.Time
	// done is closed when the group is committed or lost; err is then why it was
	// lost.
	done chan struct{}
	err  error
}

// errLost is the error of members whose effects SQLite undid together with
// those of another member.
var errLost = errors.New("the database rolled the shared transaction back")

func newWriter(h handle, file string) *writer {
	w := &writer{uninterrupted: uninterrupted{h}, file: file}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = time.AfterFunc(idleFor, w.shrinkLog)
	return w
}

// run calls f when it is its turn, and returns when the effects of f are
// committed. An f that fails or panics leaves no effect, and does not harm the
// transactions with which it shares the commit. When ctx is done before its
// turn, f is not called; after f, run waits for the outcome in any case. single
// means that f is one statement: alone it needs no transaction.
func (w *writer) run(ctx context.Context, single bool, f func() error) (err error) {
	g, err := w.take(ctx)
	if err != nil {
		return err
	}
	left := false
	defer func() {
		if !left { // f panicked
			w.end(g, errors.New("panic"))
			w.leave(g)
		}
	}()
	if !single || g.shared {
		err = w.begin(g)
	}
	if err == nil {
		err = w.end(g, f())
	}
	left = true
	w.leave(g)
	<-g.done
	if g.err != nil {
		// Check this also when f failed: it may have failed because an effect
		// is gone.
		return g.err
	}
	return err
}

// take waits for the turn to write, or until ctx is done.
func (w *writer) take(ctx context.Context) (*group, error) {
	w.mu.Lock()
	if err := ctx.Err(); err != nil {
		w.mu.Unlock()
		return nil, err
	}
	if !w.taken {
		w.taken = true
		w.mu.Unlock()
		return &group{done: make(chan struct{})}, nil
	}
	turn := make(chan *group, 1)
	w.waiting = append(w.waiting, turn)
	w.mu.Unlock()
	select {
	case g := <-turn:
		return g, nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	if i := slices.Index(w.waiting, turn); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
		w.mu.Unlock()
		return nil, ctx.Err()
	}
	w.mu.Unlock()
	w.leave(<-turn) // it came at the same moment
	return nil, ctx.Err()
}

// leave hands a group to the next transaction that waits. If none waits, or
// there is no room, it finishes the group and passes on the turn to write.
func (w *writer) leave(g *group) {
	if !w.handOn(g) {
		w.finish(g)
		w.release()
	}
}

// finish commits a group and lets its members go.
func (w *writer) finish(g *group) {
	if g.open {
		if _, err := w.exec(context.Background(), "COMMIT", nil); err != nil {
			g.err = fmt.Errorf("commit: %w", err)
			w.rollback()
		}
	}
	close(g.done)
}

// handOn reports whether another transaction goes on with a group.
func (w *writer) handOn(g *group) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if g.err != nil || g.room == 0 || len(w.waiting) == 0 || time.Now().After(g.until) {
		return false
	}
	g.room--
	w.next(g)
	return true
}

// release gives the turn to write to the next transaction that waits, with a
// new group for those that wait now.
func (w *writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), maxGroup)
	if w.taken = n > 0; w.taken {
		w.next(&group{shared: n > 1, room: n - 1, until: time.Now().Add(maxShared), done: make(chan struct{})})
	} else if !w.closed {
		w.idle.Reset(idleFor)
	}
}

func (w *writer) next(g *group) {
	w.waiting[0] <- g
	w.waiting = slices.Delete(w.waiting, 0, 1)
}

// begin opens the transaction, which the first member does, and the member's
// savepoint. IMMEDIATE, so that another process (session issue, migrate) makes it
// wait at the start rather than fail at its first write.
func (w *writer) begin(g *group) error {
	if !g.open {
		if _, err := w.exec(context.Background(), "BEGIN IMMEDIATE", nil); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		g.open = true
	}
	if !g.shared {
		return nil
	}
	return w.savepoint(g, "SAVEPOINT member")
}

// end keeps what a member did, or undoes it when it failed.
func (w *writer) end(g *group, failed error) error {
	switch {
	case g.err != nil || !g.open:
	case failed == nil && g.shared:
		if err := w.savepoint(g, "RELEASE member"); err != nil {
			return err
		}
	case failed != nil && g.shared:
		if err := w.savepoint(g, "ROLLBACK TO member"); err == nil {
			w.savepoint(g, "RELEASE member")
		}
		if g.err != nil && w.dialect.isAway(failed) {
			g.err = fmt.Errorf("%w: %w", errLost, failed)
		}
	case failed != nil:
		w.rollback()
		g.open = false
	}
	return failed
}

// savepoint runs a statement of a member's savepoint. It fails when there is no
// transaction any more: after a full disk, and other errors that it cannot undo
// for one statement, SQLite rolls back the whole transaction.
func (w *writer) savepoint(g *group, statement string) error {
	if _, err := w.exec(context.Background(), statement, nil); err != nil {
		g.err, g.open = fmt.Errorf("%w: %w", errLost, err), false
		w.rollback()
		return g.err
	}
	return nil
}

// rollback ends a transaction that may have ended by itself.
func (w *writer) rollback() { w.exec(context.Background(), "ROLLBACK", nil) }

// alone runs f, outside a transaction, while nothing is written through this
// connection.
func (w *writer) alone(ctx context.Context, f func() error) error {
	g, err := w.take(ctx)
	if err != nil {
		return err
	}
	w.finish(g)
	defer w.release()
	return f()
}

// close closes the connection after the transaction under way, with the log empty unless
// the disk is full or another process reads it: what is left there is not lost.
func (w *writer) close() error {
	return w.alone(context.Background(), func() error {
		w.mu.Lock()
		w.closed = true
		w.idle.Stop()
		w.mu.Unlock()
		w.emptyLog()
		w.kept.close()
		err := w.on.(*sql.Conn).Close()
		if errors.Is(err, sql.ErrConnDone) {
			err = nil // closed before
		}
		return err
	})
}
