package introspect

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Resource is what something was done to.
type Resource struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// SchemaName implements schema.Named.
func (Resource) SchemaName() string { return "AuditResource" }

// AuditEvent is one mutation.
type AuditEvent struct {
	ID            string        `json:"id" format:"uuid"`
	Operation     string        `json:"operation"`
	Actor         Actor         `json:"actor"`
	AppID         *string       `json:"appId"`
	Resource      Resource      `json:"resource"`
	Revision      *string       `json:"revision"`
	CorrelationID string        `json:"correlationId" doc:"The request id."`
	CreatedAt     clock.Instant `json:"createdAt" format:"date-time"`
}

// Position implements op.Positioned.
func (e AuditEvent) Position() cursor.Position { return cursor.Position{At: e.CreatedAt, ID: e.ID} }

type auditInput struct {
	AppID        string         `query:"appId" heavy:"true" maxLength:"500"`
	Operation    string         `query:"operation" heavy:"true" maxLength:"100"`
	ResourceType string         `query:"resourceType" heavy:"true" maxLength:"100"`
	ResourceID   string         `query:"resourceId" heavy:"true" maxLength:"500"`
	ActorID      string         `query:"actorId" heavy:"true" maxLength:"100"`
	From         *clock.Instant `query:"from" format:"date-time" doc:"Inclusive."`
	To           *clock.Instant `query:"to" format:"date-time" doc:"Exclusive."`
}

func auditEvents(ctx context.Context, c *op.Call, in *auditInput, w op.Window) ([]AuditEvent, error) {
	where := filter(c, in.From, in.To, "app_id", in.AppID, "operation", in.Operation, "resource_type", in.ResourceType,
		"resource_id", in.ResourceID, "actor_id", in.ActorID)
	chosen := w.Choose("audit_event", where, "created_at", "id", true)
	return store.All(ctx, c.DB, func(r store.Row) (e AuditEvent, err error) {
		err = r.Scan(&e.ID, &e.Operation, &e.Actor.Type, &e.Actor.ID, &e.Actor.Name, &e.AppID, &e.Resource.Type,
			&e.Resource.ID, &e.Revision, &e.CorrelationID, &e.CreatedAt)
		return e, err
	}, `SELECT id, operation, actor_type, actor_id,
		`+actorName+`, app_id, resource_type, resource_id, revision, correlation_id, created_at
		FROM audit_event`+chosen, where.Args(w.Limit)...)
}
