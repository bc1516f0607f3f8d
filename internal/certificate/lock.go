package certificate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// Lease is how long a lock outlives a process that died holding it.
	Lease = 30 * time.Second
	// lookEvery is the pause between looks at a lock that another holds.
	lookEvery = 500 * time.Millisecond
)

// locks are held under leases in the database, so that all processes share them.
type locks struct {
	db         *store.DB
	renewEvery time.Duration
	mu         sync.Mutex
	// held are the locks of this process by name.
	held map[string]*lock
}

// lock is a held lock. Its holder is a text of its own for each time it is taken, so
// that a late release never ends the turn of another.
type lock struct {
	holder string
	stop   context.CancelFunc
	done   chan struct{}
}

func newLocks(db *store.DB) locks {
	return locks{db: db, renewEvery: Lease / 3, held: map[string]*lock{}}
}

// TakeOver ends every lease. A process that is known to be the only one calls it when
// it starts: whoever held a lock before is dead.
func TakeOver(ctx context.Context, db *store.DB) (err error) {
	defer fault.Wrap(&err, "certificate.TakeOver")
	_, err = db.Exec(ctx, "DELETE FROM certificate_lock")
	return err
}

// Lock implements certmagic.Locker. It waits until the lock is free or ctx ends.
func (l *locks) Lock(ctx context.Context, name string) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if taken, err := l.TryLock(ctx, name); taken || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("certificate.Lock(%q): %w", name, ctx.Err())
		case <-look.C:
		}
	}
}

// TryLock implements certmagic.TryLocker.
func (l *locks) TryLock(ctx context.Context, name string) (taken bool, err error) {
	defer fault.Wrap(&err, "certificate.TryLock(%q)", name)
	now := l.db.Now()
	// Reading first keeps those who wait off the writer.
	busy, err := store.Exists(ctx, l.db, "SELECT 1 FROM certificate_lock WHERE name = ? AND lease_until > ?", name, now)
	if err != nil || busy {
		return false, err
	}
	mine := &lock{holder: rand.Text(), done: make(chan struct{})}
	n, err := l.db.Exec(ctx, `INSERT INTO certificate_lock (name, holder, lease_until) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
		WHERE certificate_lock.lease_until <= ?`, name, mine.holder, now.Add(Lease), now)
	if err != nil || n == 0 {
		return false, err
	}
	ctx, mine.stop = context.WithCancel(context.WithoutCancel(ctx))
	go l.keep(ctx, name, mine)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[name] = mine
	return true, nil
}

// keep renews a lease until the lock is released or lost.
func (l *locks) keep(ctx context.Context, name string, mine *lock) {
	defer close(mine.done)
	renew := time.NewTicker(l.renewEvery)
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
		}
		n, err := l.db.Exec(ctx, "UPDATE certificate_lock SET lease_until = ? WHERE name = ? AND holder = ?",
			l.db.Now().Add(Lease), name, mine.holder)
		if err == nil && n == 0 {
			return // it stood still, and another took over
		}
	}
}

// Unlock implements certmagic.Locker.
func (l *locks) Unlock(ctx context.Context, name string) (err error) {
	defer fault.Wrap(&err, "certificate.Unlock(%q)", name)
	l.mu.Lock()
	mine := l.held[name]
	delete(l.held, name)
	l.mu.Unlock()
	if mine == nil {
		return errors.New("this process does not hold the lock")
	}
	mine.stop()
	<-mine.done
	_, err = l.db.Exec(ctx, "DELETE FROM certificate_lock WHERE name = ? AND holder = ?", name, mine.holder)
	return err
}
