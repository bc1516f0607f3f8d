// Package audit records every mutation in the transaction that makes it. It
// holds who did what to which resource, never what was in it
// (api-v1.md, Audit events).
package audit

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// Event is one mutation.
type Event struct {
	Operation     string
	Actor         *actor.Actor
	AppID         string // "" when the resource belongs to no app
	ResourceType  string
	ResourceID    string
	Revision      string // "" when the resource is gone
	CorrelationID string // the request id
}

// Record writes e as part of tx.
func Record(ctx context.Context, tx *store.Tx, e Event) (err error) {
	defer fault.Wrap(&err, "audit.Record(%s, %s)", e.Operation, e.ResourceID)
	return tx.Send(ctx, `INSERT INTO audit_event
		(id, owner_id, operation, actor_type, actor_id, app_id, resource_type, resource_id, revision, correlation_id,
		created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		ids.New(), e.Actor.OwnerID, e.Operation, e.Actor.Type, e.Actor.PrincipalID(), store.NullString(e.AppID),
		e.ResourceType, e.ResourceID, store.NullString(e.Revision), e.CorrelationID, tx.Now)
}

// Retention is how long events are kept.
const Retention = 90 * 24 * time.Hour

// Sweep removes at most limit events that are older than Retention.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "audit.Sweep")
	return db.Exec(ctx, `DELETE FROM audit_event WHERE (owner_id, created_at, id) IN
		(SELECT e.owner_id, e.created_at, e.id FROM users u JOIN audit_event e ON e.owner_id = u.id AND e.created_at < ?
		LIMIT ?)`,
		db.Now().Add(-Retention), limit)
}
