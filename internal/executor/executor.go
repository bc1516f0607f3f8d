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
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/tracing"
)

const (
	// cycleItems is how many items of long jobs one cycle takes (api-v1.md,
	// Executor cycle).
	cycleItems = 10
	// cycleJobs is how many short jobs one cycle takes, which share a commit.
	cycleJobs = 64
	// pollEvery finds jobs that another process enqueued.
	pollEvery = 200 * time.Millisecond
	// gather is how long a cycle waits for more short jobs.
	gather = 20 * time.Millisecond
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
	// Tracer traces jobs whose cause is traced; nil traces none.
	Tracer *tracing.Tracer
	// Observe is called after each attempt, for metrics; it may be nil. outcome
	// is done, progress, waiting, failed, given_up or lease_lost.
	Observe func(kind, outcome string)
}

// Executor runs jobs: many short jobs in one transaction, and long jobs side by
// side, so that one that reads for long does not hold up others.
type Executor struct {
	Options
	kinds map[string]jobs.Kind
	short []string
	// long and outside are the places of long jobs: of those that wait for this
	// installation alone, and of those that wait for servers of strangers.
	long, outside places
	running       sync.WaitGroup
}

// places are for long jobs of some kinds that have their turns side by side.
type places struct {
	kinds []string
	// busy is how many of the jobs are having their turns.
	busy atomic.Int64
	// freed receives when a job has had its turns and gives back its place.
	freed chan struct{}
}

// New returns an executor.
func New(o Options) *Executor {
	o.Lease = cmp.Or(o.Lease, jobs.Lease)
	if o.Observe == nil {
		o.Observe = func(string, string) {}
	}
	e := &Executor{Options: o, kinds: map[string]jobs.Kind{}}
	e.long.freed, e.outside.freed = make(chan struct{}, 1), make(chan struct{}, 1)
	for _, k := range o.Kinds {
		if _, twice := e.kinds[k.Name]; twice {
			panic(fmt.Sprintf("job kind %s is declared twice", k.Name))
		}
		e.kinds[k.Name] = k
		switch {
		case k.Turn == nil:
			e.short = append(e.short, k.Name)
		case k.Outside:
			e.outside.kinds = append(e.outside.kinds, k.Name)
		default:
			e.long.kinds = append(e.long.kinds, k.Name)
		}
	}
	return e
}

// Run works until ctx ends; what is under way is finished first.
func (e *Executor) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { e.loop(ctx, e.shortJobs, e.listen(e.short), nil) })
	for _, p := range []*places{&e.long, &e.outside} {
		loops.Go(func() {
			e.loop(ctx, func(ctx context.Context) (int, error) { return e.longJobs(ctx, p) }, e.listen(p.kinds), p.freed)
		})
	}
	loops.Wait()
	e.running.Wait()
}

// listen returns what wakes the loop of some kinds.
func (e *Executor) listen(kinds []string) <-chan struct{} {
	var topics []string
	for _, kind := range kinds {
		topics = append(topics, jobs.Topic(kind))
	}
	return e.DB.Listen(topics...)
}

// loop takes jobs again and again, with pauses while there are none; wake and
// more receive when there may be.
func (e *Executor) loop(ctx context.Context, take func(context.Context) (int, error), wake, more <-chan struct{}) {
	for ctx.Err() == nil {
		n, err := take(ctx)
		wait := pollEvery
		switch {
		case err != nil:
			e.Log.Error("executor", "error", err)
			wait = awayWait
		case n > 0:
			continue
		}
		select {
		case <-ctx.Done():
		case <-wake:
			// Under load the next jobs come with it in one cycle's commits.
			time.Sleep(gather)
		case <-more:
		case <-time.After(wait):
		}
	}
}

// Cycle takes one cycle's short and long jobs, waits until they have had
// their turns, and returns how many they were. It is for tests; Run must not be
// running.
func (e *Executor) Cycle(ctx context.Context) (int, error) {
	short, err := e.shortJobs(ctx)
	long, longErr := e.longJobs(ctx, &e.long)
	outside, outsideErr := e.longJobs(ctx, &e.outside)
	e.running.Wait()
	return short + long + outside, errors.Join(err, longErr, outsideErr)
}

// shortJobs runs one cycle of short jobs.
func (e *Executor) shortJobs(ctx context.Context) (int, error) {
	// A cycle that began is finished even when the process is asked to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cycleLimit)
	defer cancel()
	claimed, err := jobs.Claim(ctx, e.DB, e.Lease, cycleJobs, e.short)
	if err != nil {
		return 0, err
	}
	return len(claimed), errors.Join(e.runAll(ctx, claimed)...)
}

// runAll runs short jobs in one transaction, so that they share a commit. When
// one fails, the transaction is undone and each job runs alone.
func (e *Executor) runAll(ctx context.Context, claimed []jobs.Job) (failed []error) {
	if len(claimed) > 1 && e.runTogether(ctx, claimed) {
		return nil
	}
	for _, j := range claimed {
		// It has time of its own: the shared transaction may have failed for want of it.
		alone, cancel := context.WithTimeout(context.WithoutCancel(ctx), cycleLimit)
		failed = append(failed, e.runOne(alone, j))
		cancel()
	}
	return failed
}

// runTogether reports whether the shared transaction of several short jobs is committed.
func (e *Executor) runTogether(ctx context.Context, claimed []jobs.Job) bool {
	ctx, spans := e.traced(ctx, claimed...)
	err := e.run(ctx, claimed...)
	spans.end(err)
	if err == nil {
		for _, j := range claimed {
			e.Observe(j.Kind, "done")
		}
		return true
	}
	if !errors.Is(err, jobs.ErrLeaseLost) {
		e.Log.Warn("short jobs failed together, each runs alone now", "jobs", len(claimed), "error", err)
	}
	return false
}

// errInterrupted is the failure of a job whose earlier attempts all ended
// without an outcome, because its executors died.
var errInterrupted = errors.New("interrupted too often")

// run finishes jobs and applies their effects in one transaction.
func (e *Executor) run(ctx context.Context, claimed ...jobs.Job) error {
	return e.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		if slices.ContainsFunc(claimed, func(j jobs.Job) bool { return j.Attempts > jobs.MaxAttempts }) {
			return errInterrupted
		}
		if err := jobs.FinishAll(ctx, tx, claimed); err != nil {
			return err
		}
		byKind := map[string][]jobs.Job{}
		for _, j := range claimed {
			if e.kinds[j.Kind].RunAll != nil {
				byKind[j.Kind] = append(byKind[j.Kind], j)
			} else if err := apply(e.kinds[j.Kind].Run, ctx, tx, j); err != nil {
				return fmt.Errorf("job %s %s: %w", j.Kind, j.ID, err)
			}
		}
		for kind, all := range byKind {
			if err := apply(e.kinds[kind].RunAll, ctx, tx, all); err != nil {
				return fmt.Errorf("jobs %s %s and %d more: %w", kind, all[0].ID, len(all)-1, err)
			}
		}
		return nil
	})
}

// apply runs the function of a short kind of jobs.
func apply[T any](run func(context.Context, *store.Tx, T) error, ctx context.Context, tx *store.Tx,
	what T) (err error) {
	defer recovered(&err)
	return run(ctx, tx, what)
}

// recovered turns a panic of a job into its failure: a panic must not end the
// API and the redirector in the same process.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	}
}

// runOne runs a short job alone and, when it fails, has it wait or gives it up.
func (e *Executor) runOne(ctx context.Context, j jobs.Job) error {
	ctx, span := e.traced(ctx, j)
	err := e.run(ctx, j)
	span.end(err)
	return e.settle(ctx, j, err, "done")
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
	err := e.DB.InTx(ctx, func(tx *store.Tx) error {
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
