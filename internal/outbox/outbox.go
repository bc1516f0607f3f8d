// Package outbox keeps the events that webhooks tell about, written in the
// transaction of the change they report: an event exists exactly when its
// change does (api-v1.md, Webhook events).
package outbox

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Type of an event, as webhook destinations select it.
type Type string

// The event types emitted so far.
const (
	LinkCreated         Type = "link.created"
	LinkUpdated         Type = "link.updated"
	LinkDeleted         Type = "link.deleted"
	DomainStatusChanged Type = "domain.status_changed"
	OperationCompleted  Type = "operation.completed"
	OperationFailed     Type = "operation.failed"
)

// Emit writes an event about one resource of an app as part of tx.
func Emit(ctx context.Context, tx *store.Tx, t Type, appID, resourceID, revision string) error {
	_, err := tx.Exec(ctx, "INSERT INTO outbox (id, app_id, type, resource_id, revision, occurred_at) VALUES (?, ?, ?, ?, ?, ?)",
		ids.New(), appID, string(t), resourceID, revision, tx.Now)
	return err
}

// Retention is how long events are kept. Until destinations can be registered
// nobody waits for them.
const Retention = 7 * 24 * time.Hour

// Sweep removes at most limit events that are older than Retention.
func Sweep(ctx context.Context, db *store.DB, limit int) (int64, error) {
	return db.Exec(ctx, "DELETE FROM outbox WHERE (occurred_at, id) IN (SELECT occurred_at, id FROM outbox WHERE occurred_at < ? ORDER BY occurred_at LIMIT ?)",
		db.Now().Add(-Retention), limit)
}
