// Package jobs is the durable queue: a job is a row written in the
// transaction of the change that needs it, claimed under a lease by one
// executor at a time.
//
// A lease is a number. Whoever claims a job raises it, and every transaction of
// a job names the number that was claimed: an executor that lost its lease (it
// stood still, or its machine did) can commit nothing. A short job has its
// effects in one transaction (Kind.Run); a long one works in turns, each of
// which commits its own effects and renews the lease (Kind.Turn). What a kind
// of job does is not held here.
package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Lease is how long a claimed job belongs to its executor unless it is renewed
// (api-v1.md, Durable operation).
const Lease = 30 * time.Second

// MaxAttempts is how often a job is tried in all. For a job that works in turns
// it is how often in a row without progress.
const MaxAttempts = 5

// firstWait comes before the second attempt; it doubles with each further one,
// and up to a quarter is added so that failures do not come in step.
const firstWait = time.Second

// fairness is how many due jobs, the longest due first, a claim shares out
// among apps. It bounds the cost of a claim when very many jobs wait, and is
// far more than one app has with five operations of fifty items.
const fairness = 500

// Topic is signalled when a job of a kind was enqueued.
func Topic(kind string) string { return "job " + kind }

// ErrLeaseLost means that another executor has the job. Everything that writes
// under a lease returns it: Finish, FinishAll, Retry, and the methods of Held.
var ErrLeaseLost = errors.New("the lease of this job is lost")

// Job is a claimed job.
type Job struct {
	ID       string
	Kind     string
	Payload  string // what the kind needs to know, often just an id
	AppID    string // "" when the job belongs to no app
	Grant    actor.Grant
	LeaseNo  int64
	Attempts int64 // including the one under way
	// Trace is that of the transaction that added the job, for tracing.Tracer.Continue.
	Trace string
}

// Enqueue adds a job as part of tx, to run as soon as tx is committed. An
// empty grant means that the job only completes what was already authorized.
func Enqueue(ctx context.Context, tx *store.Tx, kind, payload, appID string, grant actor.Grant) error {
	_, err := EnqueueID(ctx, tx, kind, payload, appID, grant)
	return err
}

// EnqueueID is Enqueue for callers that follow the job: it returns the job's
// id.
func EnqueueID(ctx context.Context, tx *store.Tx, kind, payload, appID string,
	grant actor.Grant) (id string, err error) {
	defer fault.Wrap(&err, "jobs.Enqueue(%s)", kind)
	id = ids.New()
	err = tx.Send(ctx, `INSERT INTO job (id, kind, payload, app_id, owner_id, credential, lease_no, attempts, run_after,
		created_at, trace)
		VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?)`,
		id, kind, payload, store.NullString(appID), store.NullString(grant.OwnerID), store.NullString(grant.Credential),
		tx.Now, tx.Now, store.NullString(tx.Trace()))
	tx.Signal(Topic(kind))
	return id, err
}

// Claim leases at most n due jobs of the given kinds for a time. Apps take
// turns, so that the jobs of one app do not hold up the jobs of another; within
// an app the longest due come first. Jobs of other kinds are for a newer
// program that shares the database.
//
// A job that is not finished is due again when its lease has ended and the wait
// before its next attempt is over.
func Claim(ctx context.Context, db *store.DB, lease time.Duration, n int, kinds []string) (claimed []Job, err error) {
	defer fault.Wrap(&err, "jobs.Claim(%d)", n)
	now := db.Now()
	// An idle executor asks often: reading first keeps it off the writer.
	due := []any{now}
	for _, k := range kinds {
		due = append(due, k)
	}
	condition := "run_after <= ? AND kind IN (" + store.Marks(len(kinds)) + ") ORDER BY run_after, id LIMIT ?"
	apps, err := store.One(ctx, db, store.Value[int], `SELECT CASE WHEN MIN(app) = MAX(app) THEN 1 ELSE COUNT(*) END
		FROM (SELECT COALESCE(app_id, '') AS app FROM job WHERE `+condition+") AS due",
		append(due, fairness)...)
	if err != nil || apps == 0 {
		return nil, err
	}
	// Turns cost a look at all that is due; one app alone takes none, and a few
	// more than n are enough beside other executors.
	turn, among := "0", 4*n
	if apps > 1 {
		turn, among = "ROW_NUMBER() OVER (PARTITION BY app_id ORDER BY run_after, id)", fairness
	}
	again, wait := waits("attempts + 1", now.Add(lease))
	args := slices.Concat(due, []any{among, now, n}, wait)
	err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		// Materialized: PostgreSQL may run a subquery again for each row that the
		// update looks at, and each time its limit would admit others.
		claimed, err = store.All(ctx, tx, scan, `WITH due AS (SELECT id, app_id, run_after FROM job
			WHERE `+condition+`),
			fair AS (SELECT id, run_after, `+turn+` AS turn FROM due),
			picked AS MATERIALIZED (SELECT job.id FROM job JOIN fair ON fair.id = job.id WHERE job.run_after <= ?
				ORDER BY fair.turn, fair.run_after, fair.id LIMIT ?`+tx.Dialect().SkipLocked+`)
			UPDATE job SET lease_no = lease_no + 1, attempts = attempts + 1, run_after = `+again+`
			WHERE id IN (SELECT id FROM picked)
			RETURNING id, kind, payload, COALESCE(app_id, ''), COALESCE(owner_id, ''), COALESCE(credential, ''), lease_no, attempts,
				COALESCE(trace, '')`, args...)
		return err
	})
	return claimed, err
}

// waits returns the expression, with its arguments, of when a job may be tried
// again after so many attempts; from is when the last one ended.
func waits(attempts string, from clock.Instant) (expression string, args []any) {
	expression = "CASE " + attempts + " WHEN 0 THEN CAST(? AS BIGINT)"
	args = []any{from}
	for n := int64(1); n < MaxAttempts; n++ {
		expression += " WHEN " + strconv.FormatInt(n, 10) + " THEN CAST(? AS BIGINT)"
		args = append(args, from.Add(wait(n)))
	}
	return expression + " ELSE CAST(? AS BIGINT) END", append(args, from.Add(wait(MaxAttempts)))
}

// wait returns how long to wait after an attempt: 1, 2, 4, 8 s and up to a
// quarter more.
func wait(attempts int64) time.Duration {
	d := firstWait << (min(attempts, MaxAttempts-1) - 1)
	return d + rand.N(d/4)
}

func scan(r store.Row) (j Job, err error) {
	err = r.Scan(&j.ID, &j.Kind, &j.Payload, &j.AppID, &j.Grant.OwnerID, &j.Grant.Credential, &j.LeaseNo, &j.Attempts,
		&j.Trace)
	return j, err
}

// Finish removes a job as part of the transaction that holds its effects, or
// returns ErrLeaseLost, and then nothing of that transaction may stand.
func Finish(ctx context.Context, tx *store.Tx, j Job) (err error) {
	defer fault.Wrap(&err, "jobs.Finish(%s, %s)", j.Kind, j.ID)
	return held(tx.Exec(ctx, "DELETE FROM job WHERE id = ? AND lease_no = ?", j.ID, j.LeaseNo))
}

// FinishAll is Finish for several jobs: all of them, or none.
func FinishAll(ctx context.Context, tx *store.Tx, all []Job) (err error) {
	defer fault.Wrap(&err, "jobs.FinishAll")
	for some := range store.Chunks(all) {
		leases, args := "", make([]any, 0, 3*len(some))
		for _, j := range some {
			args = append(args, j.ID)
		}
		for _, j := range some {
			leases, args = leases+" WHEN ? THEN CAST(? AS BIGINT)", append(args, j.ID, j.LeaseNo)
		}
		n, err := tx.Exec(ctx, "DELETE FROM job WHERE id IN ("+store.Marks(len(some))+") AND lease_no = CASE id"+leases+
			" END", args...)
		if err == nil && n < int64(len(some)) {
			err = ErrLeaseLost
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// held returns the error of a statement that names a lease. Such a statement
// changes one row as long as the lease holds.
func held(n int64, err error) error {
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return err
}

// Retry gives a failed job back, to be due after a growing wait.
func Retry(ctx context.Context, tx *store.Tx, j Job) (err error) {
	defer fault.Wrap(&err, "jobs.Retry(%s, %s)", j.Kind, j.ID)
	return j.giveBack(ctx, tx, tx.Now.Add(wait(j.Attempts)), j.Attempts)
}

// giveBack ends the lease of a job that is due again at an instant.
func (j *Job) giveBack(ctx context.Context, q store.Q, due clock.Instant, attempts int64) error {
	return held(q.Exec(ctx, `UPDATE job SET run_after = ?, attempts = ?, lease_no = lease_no + 1 WHERE id = ?
		AND lease_no = ?`, due, attempts, j.ID, j.LeaseNo))
}

// Wake makes a job due now if it was put off with Held.Later, as part of tx. A
// job under way, or waiting after a failure, is left alone.
func Wake(ctx context.Context, tx *store.Tx, kind, payload string) (err error) {
	defer fault.Wrap(&err, "jobs.Wake(%s)", kind)
	_, err = tx.Exec(ctx, `UPDATE job SET run_after = ? WHERE kind = ? AND payload = ? AND attempts = 0
		AND run_after > ?`, tx.Now, kind, payload, tx.Now)
	tx.Signal(Topic(kind))
	return err
}

// TakeOver ends every lease. An executor that is known to be the only one calls
// it when it starts: whoever held a lease before is dead. An interrupted job
// waits as after a failure, so that a job which kills its executor runs less
// and less often.
func TakeOver(ctx context.Context, db *store.DB) (err error) {
	defer fault.Wrap(&err, "jobs.TakeOver")
	due, args := waits("attempts", db.Now())
	_, err = db.Exec(ctx, "UPDATE job SET run_after = "+due+" WHERE run_after > "+due, append(args, args...)...)
	return err
}

// Depth returns how many jobs wait and since when the oldest is due.
func Depth(ctx context.Context, q store.Q) (n int64, oldest clock.Instant, err error) {
	defer fault.Wrap(&err, "jobs.Depth")
	_, err = store.One(ctx, q, func(r store.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&n, &oldest)
	}, "SELECT COUNT(*), COALESCE(MIN(run_after), 0) FROM job")
	return n, oldest, err
}
