package introspect

import (
	"context"
	"reflect"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/webhook"
)

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
	u := Usage{Limits: ratesOf(limits[0:3]), Usage: ratesOf(used[0:3]), SharedLimits: sharedOf(limits[3:]),
		SharedUsage: sharedOf(used[3:])}
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
	for _, whose := range []struct{ by, key string }{{"credential", c.Actor.Windows}, {"account", c.Actor.OwnerID},
		{"app", appID}} {
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
