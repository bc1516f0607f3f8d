package webhook

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

const columns = `id, app_id, url, events, description, enabled, COALESCE(hold, ''), consecutive_failures, last_success_at, last_failure_at,
	secret, previous_secret, previous_until, owner_id, credential, authorizer_type, authorizer_id, authorized_until, revision, created_at, updated_at`

// scan reads a webhook as it is at an instant.
func scan(now clock.Instant) func(store.Row) (Webhook, error) {
	return func(r store.Row) (w Webhook, err error) {
		var events string
		if err := r.Scan(&w.ID, &w.AppID, &w.URL, &events, &w.Description, &w.Enabled, &w.hold, &w.ConsecutiveFailures,
			&w.LastSuccessAt, &w.LastFailureAt,
			&w.secret, &w.previousSecret, &w.previousUntil, &w.grant.OwnerID, &w.grant.Credential, &w.AuthorizedBy.Type,
			&w.AuthorizedBy.ID,
			&w.authorizedUntil, &w.Revision, &w.CreatedAt, &w.UpdatedAt); err != nil {
			return w, err
		}
		w.setStatus(now)
		return w, json.Unmarshal([]byte(events), &w.Events)
	}
}

// find returns a webhook that is not deleted, or store.ErrNotFound.
func find(ctx context.Context, q store.Q, id string, now clock.Instant) (Webhook, error) {
	return store.One(ctx, q, scan(now), "SELECT "+columns+" FROM webhook WHERE id = ? AND deleted_at IS NULL", id)
}

// load is find with the refusal of a missing one.
func load(ctx context.Context, q store.Q, id string, now clock.Instant) (Webhook, error) {
	return op.Found(find(ctx, q, id, now))
}

// current loads a webhook for a change under the revision that the client knows.
func current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (Webhook, error) {
	w, err := load(ctx, tx, id, tx.Now)
	if err == nil && c.Stale(w.Revision) {
		err = fault.Stale()
	}
	return w, err
}

// appOfAny implements op.AppFinder, also of a deleted webhook, whose deliveries
// can still be read.
func appOfAny(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM webhook WHERE id = ?", id)
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM webhook WHERE id = ? AND deleted_at IS NULL", id)
}

func list(ctx context.Context, c *op.Call, appID string, w op.Window) ([]Webhook, error) {
	var where store.Where
	where.And("app_id = ? AND deleted_at IS NULL", appID)
	order := w.Keyset(&where, "created_at", "id", true)
	return store.All(ctx, c.DB, scan(c.Now), "SELECT "+columns+" FROM webhook"+where.String()+order,
		where.Args(w.Limit)...)
}

// Count returns how many destinations an app has.
func Count(ctx context.Context, q store.Q, appID string) (_ int64, err error) {
	defer fault.Wrap(&err, "webhook.Count(%s)", appID)
	return store.One(ctx, q, store.Value[int64], "SELECT COUNT(*) FROM webhook WHERE app_id = ? AND deleted_at IS NULL",
		appID)
}

// insert adds a destination. Its row is made with its id alone, and save fills it
// in: the columns of a configuration are written in one place.
func insert(ctx context.Context, tx *store.Tx, w *Webhook) error {
	w.ID, w.CreatedAt, w.secret = ids.New(), tx.Now, newSecret()
	if _, err := tx.Exec(ctx, `INSERT INTO webhook (id, app_id, created_at, url, events, enabled, consecutive_failures,
		secret,
		owner_id, credential, authorizer_type, authorizer_id, authorized_until, revision, updated_at)
		VALUES (?, ?, ?, '', '[]', FALSE, 0, '', '', '', '', '', 0, '', 0)`,
		w.ID, w.AppID, w.CreatedAt); err != nil {
		return err
	}
	return save(ctx, tx, w)
}

// lock locks a destination until tx ends, so that no other transaction claims,
// records or changes it or its deliveries. Every transaction that does so takes
// this lock first, so that all wait for each other in one order.
func lock(ctx context.Context, tx *store.Tx, id string) error {
	_, err := store.Exists(ctx, tx, "SELECT 1 FROM webhook WHERE id = ?"+tx.Dialect().LockRow, id)
	return err
}

// save stores a configuration under a new revision and cancels the deliveries
// that are bound to the revision before. Its first statement takes the lock.
func save(ctx context.Context, tx *store.Tx, w *Webhook) error {
	if w.previousUntil != nil && *w.previousUntil <= tx.Now {
		w.previousSecret, w.previousUntil = nil, nil
	}
	w.Revision, w.UpdatedAt = ids.Revision(), tx.Now
	w.setStatus(tx.Now)
	events, err := json.Marshal(w.Events)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE webhook SET url = ?, events = ?, description = ?, enabled = ?, hold = ?,
		consecutive_failures = ?,
		secret = ?, previous_secret = ?, previous_until = ?, owner_id = ?, credential = ?, authorizer_type = ?,
		authorizer_id = ?, authorized_until = ?,
		revision = ?, updated_at = ? WHERE id = ?`,
		w.URL, string(events), w.Description, w.Enabled, store.NullString(w.hold), w.ConsecutiveFailures,
		w.secret, w.previousSecret, w.previousUntil, w.grant.OwnerID, w.grant.Credential, w.AuthorizedBy.Type,
		w.AuthorizedBy.ID, w.authorizedUntil,
		w.Revision, w.UpdatedAt, w.ID); err != nil {
		return err
	}
	if err := delivery.Cancel(ctx, tx, w.ID, delivery.ConfigurationChanged); err != nil {
		return err
	}
	if !w.Enabled {
		return delivery.Subscribe(ctx, tx, w.ID, w.AppID)
	}
	types := make([]delivery.Type, len(w.Events))
	for n, e := range w.Events {
		types[n] = delivery.Type(e)
	}
	return delivery.Subscribe(ctx, tx, w.ID, w.AppID, types...)
}

// remove ends a webhook and forgets its secrets. Its row stays as long as its
// deliveries do.
func remove(ctx context.Context, tx *store.Tx, w *Webhook) error {
	w.Enabled, w.secret, w.previousSecret, w.previousUntil = false, "", nil, nil
	if err := save(ctx, tx, w); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE webhook SET deleted_at = ? WHERE id = ?", tx.Now, w.ID)
	return err
}

// RemoveApp removes the destinations of an app that is being deleted, as part
// of tx. Nothing more is sent; the sweep removes the deliveries.
func RemoveApp(ctx context.Context, tx *store.Tx, _, appID string) (err error) {
	defer fault.Wrap(&err, "webhook.RemoveApp(%s)", appID)
	// First the destinations: who sends locks them before their deliveries.
	if _, err := tx.Exec(ctx, "UPDATE webhook SET enabled = FALSE WHERE app_id = ?", appID); err != nil {
		return err
	}
	if err := delivery.CancelApp(ctx, tx, appID, delivery.ConfigurationChanged); err != nil {
		return err
	}
	if err := delivery.UnsubscribeApp(ctx, tx, appID); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "DELETE FROM webhook WHERE app_id = ?", appID)
	return err
}

// Sweep removes at most limit deliveries after their retention, and deleted
// webhooks that no delivery refers to any more.
func Sweep(ctx context.Context, db *store.DB, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "webhook.Sweep")
	if n, err = delivery.Sweep(ctx, db, limit); err != nil || n == int64(limit) {
		return n, err
	}
	_, err = db.Exec(ctx, `DELETE FROM webhook WHERE id IN (SELECT w.id FROM webhook w WHERE w.deleted_at < ?
		AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.webhook_id = w.id) ORDER BY w.deleted_at LIMIT ?)`,
		db.Now().Add(-delivery.Retention), limit)
	return n, err
}
