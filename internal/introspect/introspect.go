// Package introspect reads what the pipeline left behind: audit events, request
// records, rate windows, and which operations a caller may use (api-v1.md,
// Usage and capabilities, Audit event and request diagnostic). It writes
// nothing.
package introspect

import (
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// service holds what the operations need besides the call.
type service struct{ pipeline *op.Pipeline }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline) part.Part {
	d := &service{p}
	op.Read(p, op.Op{ID: "getCapabilities", Method: "GET", Path: "/capabilities", Perm: "capabilities:read",
		Summary: "List the permitted operations"}, d.capabilities)
	op.Read(p, op.Op{ID: "getAppsAppIdCapabilities", Method: "GET", Path: "/apps/{appId}/capabilities",
		Perm: "capabilities:read", App: op.AppInPath, Summary: "List the permitted operations on an app"},
		d.appCapabilities)
	op.Read(p, op.Op{ID: "getAppsAppIdUsage", Method: "GET", Path: "/apps/{appId}/usage", Perm: "usage:read",
		App: op.AppInPath, Summary: "Get rate limits and usage",
		Doc: "Account counters include the owner's other apps."}, d.usage)
	op.List(p, op.Op{ID: "getAuditEvents", Method: "GET", Path: "/audit-events", Perm: "audit_events:read", Human: true,
		App: op.AppInQuery, Summary: "List audit events"}, auditEvents)
	op.List(p, op.Op{ID: "getRequests", Method: "GET", Path: "/requests", Perm: "requests:read", Human: true,
		App: op.AppInQuery, Summary: "List request logs"}, d.requests)
	return part.Part{Name: "introspect"}
}

// Actor is who did something.
type Actor struct {
	Type string  `json:"type" enum:"human,api_key"`
	ID   string  `json:"id"`
	Name *string `json:"name" doc:"The user's display name or the key's name as it is now; null when there is none."`
}

// SchemaName implements schema.Named.
func (Actor) SchemaName() string { return "AuditActor" }

// actorName is the column of an actor's present name.
const actorName = `CASE actor_type WHEN 'human' THEN (SELECT u.display_name FROM users u WHERE u.id = actor_id)
	ELSE (SELECT k.name FROM api_key k WHERE k.id = actor_id) END`

// filter returns the condition of the caller's rows with the filters given, as
// pairs of column and value.
func filter(c *op.Call, from, to *clock.Instant, pairs ...string) *store.Where {
	var w store.Where
	w.And("owner_id = ?", c.Actor.OwnerID)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			w.And(pairs[i]+" = ?", pairs[i+1])
		}
	}
	if from != nil {
		w.And("created_at >= ?", *from)
	}
	if to != nil {
		w.And("created_at < ?", *to)
	}
	return &w
}
