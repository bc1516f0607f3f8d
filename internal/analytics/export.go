package analytics

import (
	"cmp"
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
)

// Span is what an export covers: the events of a period, of all links or of a
// group.
type Span struct {
	Start    clock.Instant `json:"start" format:"date-time" doc:"Inclusive."`
	End      clock.Instant `json:"end" format:"date-time" doc:"Exclusive, at most 366 days after start."`
	Timezone string        `json:"timezone,omitzero" enum:"UTC"`
	Group    string        `json:"group,omitzero" enum:"all,main,operational"`
}

// Check refuses a span that is empty or too long.
func (s Span) Check() error {
	switch {
	case s.End <= s.Start:
		return fault.Invalid("/end", fault.ReasonOutOfRange, "the end must be after the start")
	case s.End.Sub(s.Start) > maxRange:
		return fault.Invalid("/end", fault.ReasonOutOfRange, "the period exceeds 366 days")
	}
	return nil
}

func (s Span) query(appID string) *Query {
	return &Query{Scope: Scope{AppID: appID, Start: s.Start, End: s.End, Timezone: cmp.Or(s.Timezone, "UTC"),
		Group: cmp.Or(s.Group, "all")}}
}

// EventsIn returns up to limit events of a call's app in a span, newest first.
func EventsIn(ctx context.Context, c *op.Call, events eventstore.Engine, s Span, limit int) (_ []Event, err error) {
	defer fault.Wrap(&err, "analytics.EventsIn(%s)", c.AppID)
	a, err := s.query(c.AppID).ask(ctx, c, "")
	if err != nil {
		return nil, err
	}
	return a.events(ctx, events, nil, limit)
}

// SummaryOf returns the totals of a call's app in a span.
func SummaryOf(ctx context.Context, c *op.Call, events eventstore.Engine, s Span) (_ Summary, err error) {
	defer fault.Wrap(&err, "analytics.SummaryOf(%s)", c.AppID)
	return s.query(c.AppID).summary(ctx, c, events)
}
