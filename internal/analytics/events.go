package analytics

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
)

// Event is one event as its owner may see it: nothing of it leads back to a
// visitor.
type Event struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	OccurredAt   clock.Instant `json:"occurredAt" format:"date-time"`
	LinkID       string        `json:"linkId"`
	Domain       string        `json:"domain"`
	Prefix       string        `json:"prefix"`
	Slug         string        `json:"slug"`
	Group        string        `json:"group"`
	CampaignID   *string       `json:"campaignId"`
	FolderID     *string       `json:"folderId"`
	Device       string        `json:"device"`
	OS           *string       `json:"os"`
	Browser      *string       `json:"browser"`
	Country      string        `json:"country"`
	Source       string        `json:"source"`
	ReferrerHost *string       `json:"referrerHost"`
	Identified   bool          `json:"identified"`
	RuleID       *string       `json:"ruleId"`
	Destination  string        `json:"destination"`
}

func eventOf(e eventstore.Listed) Event {
	return Event{
		ID: e.ID, Type: string(e.Type), OccurredAt: e.At, LinkID: e.Link.ID, Domain: e.Link.Hostname,
		Prefix: e.Link.Prefix, Slug: e.Link.Slug,
		Group: e.Link.Group, CampaignID: given(e.Link.CampaignID), FolderID: given(e.Link.FolderID), Device: e.Device,
		OS:      given(e.OS),
		Browser: given(e.Browser), Country: e.Country, Source: e.Source, ReferrerHost: given(e.ReferrerHost),
		Identified: e.Identified,
		RuleID:     given(e.RuleID), Destination: e.Into,
	}
}

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
	case s.End > s.Start.Add(maxRange):
		return fault.Invalid("/end", fault.ReasonOutOfRange, "the period exceeds 366 days")
	}
	return nil
}

func (s Span) query(appID string) Query {
	return Query{AppID: appID, Start: s.Start, End: s.End, Timezone: s.Timezone, Group: s.Group}
}

// EventsIn returns up to limit events of an app in a span, newest first.
func EventsIn(ctx context.Context, events *eventstore.Store, appID string, s Span, limit int) (_ []Event, err error) {
	defer fault.Wrap(&err, "analytics.EventsIn(%s)", appID)
	q := s.query(appID)
	filter, _, err := q.parse(0)
	if err != nil {
		return nil, err
	}
	listed, err := events.List(ctx, filter, limit)
	all := make([]Event, len(listed))
	for i, e := range listed {
		all[i] = eventOf(e)
	}
	return all, err
}

// SummaryOf returns the totals of an app in a span.
func SummaryOf(ctx context.Context, events *eventstore.Store, appID string, s Span,
	now clock.Instant) (_ Summary, err error) {
	defer fault.Wrap(&err, "analytics.SummaryOf(%s)", appID)
	q := s.query(appID)
	return q.summary(ctx, events, now)
}
