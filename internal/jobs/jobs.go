// Package jobs is the durable queue: a job is a row written in the
// transaction of the change that needs it, claimed under a lease by one
// executor at a time.
//
// A lease is a number. Whoever claims a job raises it, and Finish succeeds
// only under the number that was claimed: an executor that lost its lease (it
// stood still, or its machine did) can commit nothing, because its effects are
// in the transaction that Finish refuses. What a kind of job does is not held
// here.
package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Lease is how long a claimed job belongs to its executor (api-v1.md,
// Durable operation).
const Lease = 30 * time.Second

// MaxAttempts is how often a job is tried in all.
const MaxAttempts = 5

// Topic is signalled when a job was enqueued.
const Topic = "job"

// ErrLeaseLost is returned by Finish when another executor has the job.
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
}

// Enqueue adds a job as part of tx, to run as soon as tx is committed. An
// empty grant means that the job only completes what was already authorized.
func Enqueue(ctx context.Context, tx *store.Tx, kind, payload, appID string, grant actor.Grant) error {
	_, err := tx.Exec(ctx, `INSERT INTO job (id, kind, payload, app_id, owner_id, credential, lease_no, attempts, run_after, created_at)
		VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?)`,
		ids.New(), kind, payload, store.NullString(appID), store.NullString(grant.OwnerID), store.NullString(grant.Credential), tx.Now, tx.Now)
	tx.Signal(Topic)
	return err
}

// Claim leases at most n due jobs of the given kinds, the longest due first.
// Jobs of other kinds are for a newer program that shares the database.
func Claim(ctx context.Context, db *store.DB, n int, kinds []string) (claimed []Job, err error) {
	defer fault.Wrap(&err, "jobs.Claim(%d)", n)
	now := db.Now()
	// An idle executor asks often: reading first keeps it off the writer.
	due := []any{now}
	for _, k := range kinds {
		due = append(due, k)
	}
	condition := "run_after <= ? AND kind IN (" + store.Marks(len(kinds)) + ") ORDER BY run_after, id LIMIT "
	found, err := store.Exists(ctx, db, "SELECT 1 FROM job WHERE "+condition+"1", due...)
	if err != nil || !found {
		return nil, err
	}
	err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		claimed, err = store.All(ctx, tx, scan, `UPDATE job SET lease_no = lease_no + 1, attempts = attempts + 1, run_after = ?
			WHERE id IN (SELECT id FROM job WHERE `+condition+`?`+tx.Dialect().SkipLocked+`)
			RETURNING id, kind, payload, COALESCE(app_id, ''), COALESCE(owner_id, ''), COALESCE(credential, ''), lease_no, attempts`,
			append(append([]any{now.Add(Lease)}, due...), n)...)
		return err
	})
	return claimed, err
}

func scan(r store.Row) (j Job, err error) {
	err = r.Scan(&j.ID, &j.Kind, &j.Payload, &j.AppID, &j.Grant.OwnerID, &j.Grant.Credential, &j.LeaseNo, &j.Attempts)
	return j, err
}

// Finish removes a job as part of the transaction that holds its effects, or
// returns ErrLeaseLost, and then nothing of that transaction may stand.
func Finish(ctx context.Context, tx *store.Tx, j Job) error {
	n, err := tx.Exec(ctx, "DELETE FROM job WHERE id = ? AND lease_no = ?", j.ID, j.LeaseNo)
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return err
}

// Retry gives a failed job back, to be due after a growing wait: 1, 2, 4, 8 s
// and up to a quarter more, so that failures do not come in step.
func Retry(ctx context.Context, tx *store.Tx, j Job) error {
	wait := time.Second << (j.Attempts - 1)
	n, err := tx.Exec(ctx, "UPDATE job SET run_after = ? WHERE id = ? AND lease_no = ?", tx.Now.Add(wait+rand.N(wait/4)), j.ID, j.LeaseNo)
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return err
}

// TakeOver makes every job due at once, also those that are leased: for the
// start of an executor that is known to be the only one, whose predecessor
// therefore is no more.
func TakeOver(ctx context.Context, db *store.DB) error {
	_, err := db.Exec(ctx, "UPDATE job SET run_after = ? WHERE run_after > ?", db.Now(), db.Now())
	return err
}

// Depth returns how many jobs wait and since when the oldest is due.
func Depth(ctx context.Context, q store.Q) (n int64, oldest clock.Instant, err error) {
	defer fault.Wrap(&err, "jobs.Depth")
	type depth struct {
		n      int64
		oldest clock.Instant
	}
	d, err := store.One(ctx, q, func(r store.Row) (d depth, err error) {
		err = r.Scan(&d.n, &d.oldest)
		return d, err
	}, "SELECT COUNT(*), COALESCE(MIN(run_after), 0) FROM job")
	return d.n, d.oldest, err
}
