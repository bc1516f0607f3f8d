package jobs

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Held is a job under its lease, as Kind.Turn gets it. Everything it writes
// goes through InTx or Finish, which fail when the lease is lost.
type Held struct {
	Job
	// DB is for reads outside a transaction.
	DB    *store.DB
	lease time.Duration
	// ended: the lease was given up, by Finish or by Later.
	ended    atomic.Bool
	finished bool
}

// Hold returns a claimed job for its turns.
func Hold(db *store.DB, j Job, lease time.Duration) *Held { return &Held{Job: j, DB: db, lease: lease} }

// Ended reports whether the job is finished or was put off.
func (h *Held) Ended() bool { return h.ended.Load() }

// Finished reports whether the job is done and removed.
func (h *Held) Finished() bool { return h.finished }

// InTx runs f in a transaction under the lease, which it renews. This is
// progress: the count of attempts starts anew.
func (h *Held) InTx(ctx context.Context, f func(*store.Tx) error) error {
	err := h.DB.InTx(ctx, func(tx *store.Tx) error {
		if err := held(tx.Exec(ctx, "UPDATE job SET run_after = ?, attempts = 1 WHERE id = ? AND lease_no = ?",
			h.until(tx.Now), h.ID, h.LeaseNo)); err != nil {
			return err
		}
		return f(tx)
	})
	if err == nil {
		h.Attempts = 1
	}
	return err
}

// Finish runs f in the transaction that removes the job.
func (h *Held) Finish(ctx context.Context, f func(*store.Tx) error) error {
	return h.finish(ctx, h.DB.InTx, f)
}

// FinishReadCommitted is Finish in a transaction of store.InTxReadCommitted.
func (h *Held) FinishReadCommitted(ctx context.Context, f func(*store.Tx) error) error {
	return h.finish(ctx, h.DB.InTxReadCommitted, f)
}

func (h *Held) finish(ctx context.Context, inTx func(context.Context, func(*store.Tx) error) error,
	f func(*store.Tx) error) error {
	err := inTx(ctx, func(tx *store.Tx) error {
		if err := Finish(ctx, tx, h.Job); err != nil {
			return err
		}
		return f(tx)
	})
	if err == nil {
		h.finished = true
		h.ended.Store(true)
	}
	return err
}

// Later gives the job back, to go on at an instant.
func (h *Held) Later(ctx context.Context, due clock.Instant) (err error) {
	defer fault.Wrap(&err, "jobs.Later(%s, %s)", h.Kind, h.ID)
	err = h.giveBack(ctx, h.DB, due, 0)
	if err == nil {
		h.ended.Store(true)
	}
	return err
}

// Renew lengthens the lease while a turn has no transaction to do it.
func (h *Held) Renew(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "jobs.Renew(%s, %s)", h.Kind, h.ID)
	return held(h.DB.Exec(ctx, "UPDATE job SET run_after = ? WHERE id = ? AND lease_no = ?", h.until(h.DB.Now()), h.ID,
		h.LeaseNo))
}

// RenewEvery is how long a turn may go without renewing its lease.
func (h *Held) RenewEvery() time.Duration { return h.lease / 3 }

// until returns when the job is due again if its executor dies now.
func (h *Held) until(now clock.Instant) clock.Instant { return now.Add(h.lease + wait(1)) }
