package analytics

import (
	"cmp"
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
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

// EventsIn returns up to limit events of an app in a span, newest first.
func EventsIn(ctx context.Context, q store.Q, events eventstore.Engine, appID string, s Span, now clock.Instant,
	limit int) (_ []Event, err error) {
	defer fault.Wrap(&err, "analytics.EventsIn(%s)", appID)
	a, err := s.query(appID).ask(ctx, q, now, "")
	if err != nil {
		return nil, err
	}
	return a.events(ctx, events, nil, limit)
}

// SummaryOf returns the totals of an app in a span.
func SummaryOf(ctx context.Context, q store.Q, events eventstore.Engine, appID string, s Span,
	now clock.Instant) (_ Summary, err error) {
	defer fault.Wrap(&err, "analytics.SummaryOf(%s)", appID)
	return s.query(appID).summary(ctx, q, events, now)
}
