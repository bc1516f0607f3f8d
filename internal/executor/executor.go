// Package executor runs durable jobs: it claims them under a lease, runs the
// function of their kind, and has every effect in a transaction that the lease
// guards, so that an executor that lost it changes nothing. Several may run on
// one PostgreSQL database.
//
// It does not hold any kind of job: capabilities declare those (jobs.Kind).
package executor

import (
	"cmp"
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

// Options are what an Executor works with.
type Options struct {
	DB    *store.DB
	Log   *slog.Logger
	Kinds []jobs.Kind
	// Lease is for how long jobs are claimed; 0 means jobs.Lease.
	Lease time.Duration
	// Observe is told of each attempt, for metrics; nil tells nobody. outcome is
	// done, progress, waiting, failed, given_up or lease_lost.
	Observe func(kind, outcome string)
}

// Executor runs jobs.
type Executor struct {
	Options
	kinds map[string]jobs.Kind
	names []string
	wake  <-chan struct{}
}

// New returns an executor.
func New(o Options) *Executor {
	o.Lease = cmp.Or(o.Lease, jobs.Lease)
	if o.Observe == nil {
		o.Observe = func(string, string) {}
	}
	e := &Executor{Options: o, kinds: map[string]jobs.Kind{}, wake: o.DB.Listen(jobs.Topic)}
	for _, k := range o.Kinds {
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
			e.Log.Error("executor cycle", "error", err)
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
	claimed, err := jobs.Claim(ctx, e.DB, e.Lease, cycleItems, e.names)
	if err != nil {
		return 0, err
	}
	var short, long []jobs.Job
	for _, j := range claimed {
		if e.kinds[j.Kind].Turn == nil || j.Attempts > jobs.MaxAttempts {
			short = append(short, j)
		} else {
			long = append(long, j)
		}
	}
	failed := e.runAll(ctx, short)
	// Long jobs share what the cycle has left, and go on in a later one.
	for _, j := range long {
		failed = append(failed, e.turns(ctx, j, max(1, (cycleItems-len(short))/len(long))))
	}
	return len(claimed), errors.Join(failed...)
}

// runAll runs short jobs. Together they cost one commit; when one fails,
// nothing of it stood, and each runs on its own.
func (e *Executor) runAll(ctx context.Context, claimed []jobs.Job) (failed []error) {
	if len(claimed) == 0 {
		return nil
	}
	if err := e.run(ctx, claimed...); err == nil {
		for _, j := range claimed {
			e.Observe(j.Kind, "done")
		}
		return nil
	}
	for _, j := range claimed {
		failed = append(failed, e.runOne(ctx, j))
	}
	return failed
}

// errInterrupted is the cause of a job whose earlier attempts all ended without
// a word: its executors died.
var errInterrupted = errors.New("interrupted too often")

// run finishes jobs and applies their effects in one transaction.
func (e *Executor) run(ctx context.Context, claimed ...jobs.Job) error {
	return e.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		for _, j := range claimed {
			if j.Attempts > jobs.MaxAttempts {
				return errInterrupted
			}
			if err := jobs.Finish(ctx, tx, j); err != nil {
				return err
			}
			if err := e.apply(ctx, tx, j); err != nil {
				return fmt.Errorf("job %s %s: %w", j.Kind, j.ID, err)
			}
		}
		return nil
	})
}

// apply runs the function of a short job's kind.
func (e *Executor) apply(ctx context.Context, tx *store.Tx, j jobs.Job) (err error) {
	defer recovered(&err)
	return e.kinds[j.Kind].Run(ctx, tx, j)
}

// recovered makes a panic of a job its failure: it must not take the API and
// the redirector of this process with it.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	}
}

// runOne runs a short job alone and, when it fails, has it wait or gives it up.
func (e *Executor) runOne(ctx context.Context, j jobs.Job) error {
	return e.settle(ctx, j, e.run(ctx, j), "done")
}

// settle records how an attempt ended.
func (e *Executor) settle(ctx context.Context, j jobs.Job, cause error, outcome string) error {
	if errors.Is(cause, jobs.ErrLeaseLost) {
		outcome, cause = "lease_lost", nil
	}
	if cause == nil {
		e.Observe(j.Kind, outcome)
		return nil
	}
	final := j.Attempts >= jobs.MaxAttempts
	if outcome = "failed"; final {
		outcome = "given_up"
	}
	e.Observe(j.Kind, outcome)
	e.Log.Warn("job failed", "kind", j.Kind, "id", j.ID, "attempt", j.Attempts, "final", final, "error", cause)
	// The cycle's time may be what ran out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	err := e.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error {
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
