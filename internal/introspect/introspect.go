// Package introspect reads what the pipeline left behind: audit events, request
// records, rate windows, and which operations a caller may use (api-v1.md,
// Usage and capabilities, Audit event and request diagnostic). It writes
// nothing.
package introspect

import (
	"context"
	"reflect"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// service holds what the operations need besides the call.
type service struct{ pipeline *op.Pipeline }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline) part.Part {
	d := &service{p}
	op.Read(p, op.Op{ID: "getCapabilities", Method: "GET", Path: "/capabilities", Perm: "capabilities:read",
		Summary: "List the permitted operations"}, d.capabilities)
	op.Read(p, op.Op{ID: "getAppsAppIdCapabilities", Method: "GET", Path: "/apps/{appId}/capabilities", Perm: "capabilities:read", App: op.AppInPath,
		Summary: "List the permitted operations on an app"}, d.appCapabilities)
	op.Read(p, op.Op{ID: "getAppsAppIdUsage", Method: "GET", Path: "/apps/{appId}/usage", Perm: "usage:read", App: op.AppInPath,
		Summary: "Get rate limits and usage", Doc: "Account counters include the owner's other apps."}, d.usage)
	op.List(p, op.Op{ID: "getAuditEvents", Method: "GET", Path: "/audit-events", Perm: "audit_events:read", Human: true, App: op.AppInQuery,
		Summary: "List audit events"}, auditEvents)
	op.List(p, op.Op{ID: "getRequests", Method: "GET", Path: "/requests", Perm: "requests:read", Human: true, App: op.AppInQuery,
		Summary: "List request logs"}, d.requests)
	return part.Part{Name: "introspect"}
}

// Capabilities is which operations of this version the caller may use.
type Capabilities struct {
	Environment string       `json:"environment" enum:"production,staging"`
	APIVersion  string       `json:"apiVersion"`
	Principal   Principal    `json:"principal"`
	AppID       *string      `json:"appId"`
	Operations  []Capability `json:"operations"`
}

// Principal is the caller, minimally.
type Principal struct {
	ActorType string `json:"actorType" enum:"human,api_key"`
	UserID    string `json:"userId" format:"uuid"`
}

// Capability is one permitted operation.
type Capability struct {
	Operation  string `json:"operation"`
	Method     string `json:"method"`
	Path       string `json:"path"`
	Permission string `json:"permission"`
	HumanOnly  bool   `json:"humanOnly"`
}

// SchemaName implements schema.Named.
func (Capability) SchemaName() string { return "PermittedOperation" }

func (s *service) permitted(c *op.Call, appID *string) op.Item[Capabilities] {
	data := Capabilities{
		Environment: string(s.pipeline.Auth.Environment()), APIVersion: "1.0.0", AppID: appID,
		Principal: Principal{ActorType: string(c.Actor.Type), UserID: c.Actor.OwnerID}, Operations: []Capability{},
	}
	for _, o := range s.pipeline.Ops() {
		if c.Actor.May(o.Perm, o.Human) {
			data.Operations = append(data.Operations, Capability{Operation: o.ID, Method: o.Method, Path: o.Path, Permission: o.Perm, HumanOnly: o.Human})
		}
	}
	return op.Item[Capabilities]{Data: data}
}

func (s *service) capabilities(_ context.Context, c *op.Call, _ *struct{}) (op.Item[Capabilities], error) {
	return s.permitted(c, nil), nil
}

type appInput struct {
	AppID string `path:"appId" maxLength:"500"`
}

func (s *service) appCapabilities(_ context.Context, c *op.Call, in *appInput) (op.Item[Capabilities], error) {
	return s.permitted(c, &in.AppID), nil
}

// Usage is how full the caller's own and shared windows are.
type Usage struct {
	Limits       Rates[Limit]  `json:"limits" doc:"Of the credential."`
	Usage        Rates[Used]   `json:"usage" doc:"Of the credential."`
	SharedLimits Shared[Limit] `json:"sharedLimits"`
	SharedUsage  Shared[Used]  `json:"sharedUsage"`
}

// SchemaName implements schema.Named.
func (Usage) SchemaName() string { return "UsageReport" }

// Rates has one value for each category of calls.
type Rates[T any] struct {
	Entry T `json:"entry"`
	Read  T `json:"read"`
	Write T `json:"write"`
}

// SchemaName implements schema.Named.
func (Rates[T]) SchemaName() string { return "Call" + kind[T]() }

// kind ends the names of schemas: limits and what is used of them have the same
// members.
func kind[T any]() string {
	if reflect.TypeFor[T]() == reflect.TypeFor[Limit]() {
		return "Limits"
	}
	return "Usage"
}

// Shared has the values that all credentials of an account or app share.
type Shared[T any] struct {
	Account Rates[T]    `json:"account"`
	App     AppRates[T] `json:"app"`
}

// SchemaName implements schema.Named.
func (Shared[T]) SchemaName() string { return "Shared" + kind[T]() }

// AppRates are the windows and the counts of an app.
type AppRates[T any] struct {
	Entry               T     `json:"entry"`
	Read                T     `json:"read"`
	Write               T     `json:"write"`
	LinkCreatePerMinute T     `json:"linkCreatePerMinute"`
	LinkCreatePerHour   T     `json:"linkCreatePerHour"`
	UploadPerMinute     T     `json:"uploadPerMinute"`
	ActiveOperations    int64 `json:"activeOperations"`
	AutomationRecords   int64 `json:"automationRecords"`
	Webhooks            int64 `json:"webhooks"`
}

// SchemaName implements schema.Named.
func (AppRates[T]) SchemaName() string { return "App" + kind[T]() }

// Limit is the size of a window.
type Limit struct {
	Limit         int64 `json:"limit"`
	WindowSeconds int64 `json:"windowSeconds"`
}

// SchemaName implements schema.Named.
func (Limit) SchemaName() string { return "RateLimit" }

// Used is how much of a window is used.
type Used struct {
	Used    int64         `json:"used"`
	ResetAt clock.Instant `json:"resetAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Used) SchemaName() string { return "RateLimitUsage" }

func (s *service) usage(ctx context.Context, c *op.Call, in *appInput) (op.Item[Usage], error) {
	standings, err := s.pipeline.Limiter.Peek(ctx, c.Now, s.buckets(c, in.AppID))
	if err != nil {
		return op.Item[Usage]{}, err
	}
	limits := make([]Limit, len(standings))
	used := make([]Used, len(standings))
	for i, st := range standings {
		limits[i] = Limit{Limit: st.Limit, WindowSeconds: int64(st.Window.Seconds())}
		used[i] = Used{Used: st.Used, ResetAt: st.Reset}
	}
	u := Usage{Limits: ratesOf(limits[0:3]), Usage: ratesOf(used[0:3]), SharedLimits: sharedOf(limits[3:]), SharedUsage: sharedOf(used[3:])}
	limit, use := &u.SharedLimits.App, &u.SharedUsage.App
	for _, count := range []struct {
		most       int64
		limit, use *int64
		of         func(context.Context, store.Q, string) (int64, error)
	}{
		{durable.MaxActive, &limit.ActiveOperations, &use.ActiveOperations, durable.Active},
		{automation.MaxRecords, &limit.AutomationRecords, &use.AutomationRecords, automation.Count},
		{webhook.MaxPerApp, &limit.Webhooks, &use.Webhooks, webhook.Count},
	} {
		*count.limit = c.Scaled(count.most)
		if *count.use, err = count.of(ctx, c.DB, in.AppID); err != nil {
			return op.Item[Usage]{}, err
		}
	}
	return op.Item[Usage]{Data: u}, nil
}

// buckets returns the windows in the order in which usage takes them apart.
func (s *service) buckets(c *op.Call, appID string) []ratelimit.Bucket {
	var all []ratelimit.Bucket
	for _, whose := range []struct{ by, key string }{{"credential", c.Actor.Windows}, {"account", c.Actor.OwnerID}, {"app", appID}} {
		for _, category := range []string{"entry", "read", "write"} {
			all = append(all, s.pipeline.Bucket(category, whose.by, whose.key))
		}
	}
	all = append(all, s.pipeline.BudgetBuckets(op.LinkCreation, appID)...)
	return append(all, s.pipeline.BudgetBuckets(op.Uploads, appID)...)
}

func ratesOf[T any](v []T) Rates[T] { return Rates[T]{Entry: v[0], Read: v[1], Write: v[2]} }

func sharedOf[T any](v []T) Shared[T] {
	return Shared[T]{Account: ratesOf(v[0:3]), App: AppRates[T]{
		Entry: v[3], Read: v[4], Write: v[5], LinkCreatePerMinute: v[6], LinkCreatePerHour: v[7], UploadPerMinute: v[8],
	}}
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
	AppID        string         `query:"appId" maxLength:"500"`
	Operation    string         `query:"operation" maxLength:"100"`
	ResourceType string         `query:"resourceType" maxLength:"100"`
	ResourceID   string         `query:"resourceId" maxLength:"500"`
	ActorID      string         `query:"actorId" maxLength:"100"`
	From         *clock.Instant `query:"from" format:"date-time" doc:"Inclusive."`
	To           *clock.Instant `query:"to" format:"date-time" doc:"Exclusive."`
}

func auditEvents(ctx context.Context, c *op.Call, in *auditInput, w op.Window) ([]AuditEvent, error) {
	where := filter(c, in.From, in.To, "app_id", in.AppID, "operation", in.Operation, "resource_type", in.ResourceType, "resource_id", in.ResourceID, "actor_id", in.ActorID)
	order := w.Keyset(where, "created_at", "id", true)
	return store.All(ctx, c.DB, func(r store.Row) (e AuditEvent, err error) {
		err = r.Scan(&e.ID, &e.Operation, &e.Actor.Type, &e.Actor.ID, &e.Actor.Name, &e.AppID, &e.Resource.Type, &e.Resource.ID, &e.Revision, &e.CorrelationID, &e.CreatedAt)
		return e, err
	}, `SELECT id, operation, actor_type, actor_id, `+actorName+`, app_id, resource_type, resource_id, revision, correlation_id, created_at
		FROM audit_event`+where.String()+order, where.Args(w.Limit)...)
}

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

// Request is the diagnostic record of one request.
type Request struct {
	ID         string        `json:"id" pattern:"^req_[0-9a-f]{32}$" example:"req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57"`
	Operation  string        `json:"operation"`
	Method     string        `json:"method"`
	Route      string        `json:"route"`
	Status     int64         `json:"status"`
	DurationMS int64         `json:"durationMs"`
	ErrorCode  *string       `json:"errorCode"`
	Actor      Actor         `json:"actor"`
	AppID      *string       `json:"appId"`
	CreatedAt  clock.Instant `json:"createdAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Request) SchemaName() string { return "RequestRecord" }

// Position implements op.Positioned.
func (r Request) Position() cursor.Position { return cursor.Position{At: r.CreatedAt, ID: r.ID} }

type requestInput struct {
	AppID     string         `query:"appId" maxLength:"500"`
	Operation string         `query:"operation" maxLength:"100"`
	Status    int            `query:"status" minimum:"100" maximum:"599"`
	ErrorCode string         `query:"errorCode" maxLength:"100"`
	From      *clock.Instant `query:"from" format:"date-time" doc:"Inclusive."`
	To        *clock.Instant `query:"to" format:"date-time" doc:"Exclusive."`
}

func (s *service) requests(ctx context.Context, c *op.Call, in *requestInput, w op.Window) ([]Request, error) {
	if err := s.pipeline.Requests.Flush(ctx); err != nil {
		return nil, err
	}
	where := filter(c, in.From, in.To, "app_id", in.AppID, "operation", in.Operation, "error_code", in.ErrorCode)
	if in.Status != 0 {
		where.And("status = ?", in.Status)
	}
	order := w.Keyset(where, "created_at", "id", true)
	return store.All(ctx, c.DB, func(r store.Row) (v Request, err error) {
		err = r.Scan(&v.ID, &v.Operation, &v.Method, &v.Route, &v.Status, &v.DurationMS, &v.ErrorCode, &v.Actor.Type, &v.Actor.ID, &v.Actor.Name, &v.AppID, &v.CreatedAt)
		return v, err
	}, `SELECT id, operation, method, route, status, duration_ms, error_code, actor_type, actor_id, `+actorName+`, app_id, created_at
		FROM request_record`+where.String()+order, where.Args(w.Limit)...)
}
