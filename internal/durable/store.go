package durable

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// retention is how long finished operations can be read.
const retention = 30 * 24 * time.Hour

const columns = "id, app_id, type, status, result, error, revision, created_at, updated_at, COALESCE(resource_id, " +
	"''), COALESCE(correlation_id, '')"

func scan(r store.Row) (o Operation, err error) {
	var result, failure *string
	if err := r.Scan(&o.ID, &o.AppID, &o.Type, &o.Status, &result, &failure, &o.Revision, &o.CreatedAt, &o.UpdatedAt,
		&o.ResourceID, &o.correlationID); err != nil {
		return o, err
	}
	if err := o.Result.SetColumn(result); err != nil {
		return o, err
	}
	return o, o.Error.SetColumn(failure)
}

// Active returns how many operations of an app are under way.
func Active(ctx context.Context, q store.Q, appID string) (_ int64, err error) {
	defer fault.Wrap(&err, "durable.Active(%s)", appID)
	return store.One(ctx, q, store.Value[int64], `SELECT COUNT(*) FROM operation WHERE app_id = ?
		AND status IN ('queued', 'running', 'cancel_requested')`, appID)
}

// IsActive reports whether an operation of a type on a resource of an app is under
// way.
func IsActive(ctx context.Context, q store.Q, kind, appID, resourceID string) (_ bool, err error) {
	defer fault.Wrap(&err, "durable.IsActive(%s, %s)", kind, resourceID)
	return store.Exists(ctx, q, `SELECT 1 FROM operation WHERE app_id = ?
		AND status IN ('queued', 'running', 'cancel_requested') AND type = ? AND resource_id = ?`, appID, kind, resourceID)
}

// Start adds a queued operation on a resource of an app, with the job that does
// its work, as part of tx. An app that has too many under way is refused (429).
func Start(ctx context.Context, c *op.Call, tx *store.Tx, kind, appID, resourceID string) (_ Operation, err error) {
	defer fault.Wrap(&err, "durable.Start(%s, %s)", kind, resourceID)
	active, err := Active(ctx, tx, appID)
	if err != nil {
		return Operation{}, err
	}
	if limit := c.Scaled(MaxActive); active >= limit {
		refusal := fault.New(fault.RateLimited, "The app has %d operations under way, and at most %d are allowed. "+
			"Wait for one to finish.", active, limit)
		refusal.RetryAfter = limitSeconds
		return Operation{}, refusal
	}
	o := Operation{
		ID: ids.New(), AppID: appID, Type: kind, Status: Queued, CreatedAt: tx.Now, UpdatedAt: tx.Now,
		Revision:   ids.Revision(),
		ResourceID: resourceID, correlationID: c.RequestID,
	}
	if _, err := tx.Exec(ctx, `INSERT INTO operation (id, app_id, owner_id, type, status, resource_id, revision,
		created_at, updated_at, correlation_id)
		VALUES (`+store.Marks(10)+")",
		o.ID, o.AppID, c.Actor.OwnerID, o.Type, o.Status, o.ResourceID, o.Revision, o.CreatedAt, o.UpdatedAt,
		o.correlationID); err != nil {
		return o, err
	}
	return o, jobs.Enqueue(ctx, tx, kind, o.ID, appID, c.Actor.Grant())
}

// find returns an operation, or store.ErrNotFound.
func find(ctx context.Context, q store.Q, id string) (Operation, error) {
	return store.One(ctx, q, scan, "SELECT "+columns+" FROM operation WHERE id = ?", id)
}

// Load returns an operation, or the refusal of a missing one.
func Load(ctx context.Context, q store.Q, id string) (_ Operation, err error) {
	defer fault.Wrap(&err, "durable.Load(%s)", id)
	return op.Found(find(ctx, q, id))
}

// errChanged means that another transaction changed the operation after it was
// read, which is possible under read committed. Start again.
var errChanged = errors.New("the operation was changed meanwhile")

// save stores a new status under a new revision.
func (o *Operation) save(ctx context.Context, tx *store.Tx) error {
	before := o.Revision
	o.Revision, o.UpdatedAt = ids.Revision(), tx.Now
	result, err := o.Result.Column()
	if err != nil {
		return err
	}
	failure, err := o.Error.Column()
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `UPDATE operation SET status = ?, result = ?, error = ?, revision = ?, updated_at = ?
		WHERE id = ? AND revision = ?`,
		o.Status, result, failure, o.Revision, o.UpdatedAt, o.ID, before)
	if err == nil && n == 0 {
		err = errChanged
	}
	return err
}

// Sweep removes at most limit finished operations after their retention.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "durable.Sweep")
	return db.Exec(ctx, `DELETE FROM operation WHERE id IN (SELECT id FROM operation
		WHERE updated_at < ? AND status NOT IN ('queued', 'running', 'cancel_requested') ORDER BY updated_at LIMIT ?)`,
		db.Now().Add(-retention), limit)
}
