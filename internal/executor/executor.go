// Package executor runs durable jobs: it claims them under a lease, runs the
// function of their kind, and finishes them in the transaction of their
// effects, so that an executor that lost its lease changes nothing. Several
// may run on one PostgreSQL database.
//
// It does not hold any kind of job: capabilities declare those (jobs.Kind).
package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// cycleItems is how many jobs one cycle takes (api-v1.md, Executor cycle).
	cycleItems = 10
	// pollEvery finds jobs that another process enqueued.
	pollEvery = 200 * time.Millisecond
	// gather is how long a cycle waits for company.
	gather = 5 * time.Millisecond
	// awayWait is the pause after the database did not answer.
	awayWait = time.Second
	// cycleLimit ends a cycle well before its leases.
	cycleLimit = 20 * time.Second
	// recordLimit bounds the recording of a failure.
	recordLimit = 5 * time.Second
)

// Executor runs jobs.
type Executor struct {
	db    *store.DB
	log   *slog.Logger
	kinds map[string]jobs.Kind
	names []string
	wake  <-chan struct{}
}

// New returns an executor for the given kinds.
func New(db *store.DB, log *slog.Logger, kinds ...jobs.Kind) *Executor {
	e := &Executor{db: db, log: log, kinds: map[string]jobs.Kind{}, wake: db.Listen(jobs.Topic)}
	for _, k := range kinds {
		if _, twice := e.kinds[k.Name]; twice {
			panic(fmt.Sprintf("job kind %s is declared twice", k.Name))
		}
		e.kinds[k.Name] = k
		e.names = append(e.names, k.Name)
	}
	return e
}

// Run works until ctx ends; the cycle under way is finished first.
func (e *Executor) Run(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := e.Cycle(ctx)
		wait := pollEvery
		switch {
		case err != nil:
			e.log.Error("executor cycle", "error", err)
			wait = awayWait
		case n > 0:
			continue
		}
		select {
		case <-ctx.Done():
		case <-e.wake:
			// Under load the next jobs come with it in one cycle's commits.
			time.Sleep(gather)
		case <-time.After(wait):
		}
	}
}

// Cycle claims and runs at most one cycle's items and returns how many.
func (e *Executor) Cycle(ctx context.Context) (int, error) {
	// A cycle that began is finished even when the process is asked to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cycleLimit)
	defer cancel()
	claimed, err := jobs.Claim(ctx, e.db, cycleItems, e.names)
	if err != nil {
		return 0, err
	}
	if len(claimed) == 0 {
		return 0, nil
	}
	// Together they cost one commit. When one fails, nothing of it stood, and
	// each runs on its own.
	if err := e.run(ctx, claimed...); err != nil {
		var failed []error
		for _, j := range claimed {
			failed = append(failed, e.runOne(ctx, j))
		}
		return len(claimed), errors.Join(failed...)
	}
	return len(claimed), nil
}

// errInterrupted is the cause of a job whose earlier attempts all ended without
// a word: its executors died.
var errInterrupted = errors.New("interrupted too often")

// run finishes jobs and applies their effects in one transaction.
func (e *Executor) run(ctx context.Context, claimed ...jobs.Job) error {
	return e.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		for _, j := range claimed {
			if err := jobs.Finish(ctx, tx, j); err != nil {
				return err
			}
			if j.Attempts > jobs.MaxAttempts {
				return errInterrupted
			}
			if err := e.apply(ctx, tx, j); err != nil {
				return fmt.Errorf("job %s %s: %w", j.Kind, j.ID, err)
			}
		}
		return nil
	})
}

// apply runs the function of a job's kind. One that panics failed: it must not
// take the API and the redirector of this process with it.
func (e *Executor) apply(ctx context.Context, tx *store.Tx, j jobs.Job) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return e.kinds[j.Kind].Run(ctx, tx, j)
}

// runOne runs a job alone and, when it fails, has it wait or gives it up.
func (e *Executor) runOne(ctx context.Context, j jobs.Job) error {
	cause := e.run(ctx, j)
	if cause == nil || errors.Is(cause, jobs.ErrLeaseLost) {
		return nil
	}
	final := j.Attempts >= jobs.MaxAttempts
	e.log.Warn("job failed", "kind", j.Kind, "id", j.ID, "attempt", j.Attempts, "final", final, "error", cause)
	// The cycle's time may be what ran out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	err := e.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		end := jobs.Retry
		if final {
			end = jobs.Finish
		}
		if err := end(ctx, tx, j); err != nil {
			return err
		}
		if kind := e.kinds[j.Kind]; kind.Failed != nil {
			return kind.Failed(ctx, tx, j, final)
		}
		return nil
	})
	if errors.Is(err, jobs.ErrLeaseLost) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("record failure of job %s %s: %w", j.Kind, j.ID, err)
	}
	return nil
}
