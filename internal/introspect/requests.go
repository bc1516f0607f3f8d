package introspect

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

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
	AppID     string         `query:"appId" heavy:"true" maxLength:"500"`
	Operation string         `query:"operation" heavy:"true" maxLength:"100"`
	Status    int            `query:"status" heavy:"true" minimum:"100" maximum:"599"`
	ErrorCode string         `query:"errorCode" heavy:"true" maxLength:"100"`
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
	chosen := w.Choose("request_record", where, "created_at", "id", true)
	return store.All(ctx, c.DB, func(r store.Row) (v Request, err error) {
		err = r.Scan(&v.ID, &v.Operation, &v.Method, &v.Route, &v.Status, &v.DurationMS, &v.ErrorCode, &v.Actor.Type,
			&v.Actor.ID, &v.Actor.Name, &v.AppID, &v.CreatedAt)
		return v, err
	}, `SELECT id, operation, method, route, status, duration_ms, error_code, actor_type, actor_id,
		`+actorName+`, app_id, created_at
		FROM request_record`+chosen, where.Args(w.Limit)...)
}
