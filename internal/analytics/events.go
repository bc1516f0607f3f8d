package analytics

import (
	"context"
	"strconv"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
)

type eventsInput struct {
	Query
	EventType string `query:"eventType" enum:"click,app_open,content_view,legacy_content_load,recovery_created,recovery_matched"`
}

// Events is the data of getAnalyticsEvents.
type Events struct {
	Common
	Items []Event `json:"items" maxItems:"100"`
}

// SchemaName implements schema.Named.
func (Events) SchemaName() string { return "AnalyticsEvents" }

// Event is one event as its owner may see it: nothing of it leads back to a
// visitor.
type Event struct {
	ID           string        `json:"id"`
	Type         string        `json:"type" enum:"click,app_open,content_view,legacy_content_load,recovery_created,recovery_matched"`
	OccurredAt   clock.Instant `json:"occurredAt" format:"date-time"`
	LinkID       string        `json:"linkId"`
	Domain       string        `json:"domain" doc:"Like all of the link, as it was when the event happened."`
	Prefix       string        `json:"prefix"`
	Slug         string        `json:"slug"`
	Group        string        `json:"group"`
	CampaignID   *string       `json:"campaignId"`
	FolderID     *string       `json:"folderId"`
	Device       string        `json:"device" enum:"android,ios,desktop,other,bot"`
	OS           *string       `json:"os" maxLength:"100"`
	Browser      *string       `json:"browser" maxLength:"100"`
	Country      string        `json:"country"`
	Source       string        `json:"source" enum:"browser,social,qr,app,unknown"`
	ReferrerHost *string       `json:"referrerHost" maxLength:"253"`
	Identified   bool          `json:"identified" doc:"It has the id of an installation. False for clicks today: none carries one."`
	RuleID       *string       `json:"ruleId" maxLength:"100" doc:"The routing rule that decided."`
	Destination  string        `json:"destination" enum:"web,store,app,page,none"`
}

// SchemaName implements schema.Named.
func (Event) SchemaName() string { return "AnalyticsEvent" }

// Position implements op.Positioned.
func (e Event) Position() cursor.Position { return cursor.Position{At: e.OccurredAt, ID: e.ID} }

func eventOf(e *eventstore.Listed) Event {
	return Event{
		ID: idOf(e.Place), Type: string(e.Type), OccurredAt: e.At, LinkID: e.Link.ID, Domain: e.Link.Hostname,
		Prefix: e.Link.Prefix, Slug: e.Link.Slug, Group: e.Link.Group, CampaignID: opt.TextPtr(e.Link.CampaignID),
		FolderID: opt.TextPtr(e.Link.FolderID), Device: e.Device, OS: opt.TextPtr(e.OS), Browser: opt.TextPtr(e.Browser),
		Country: e.Country, Source: e.Source, ReferrerHost: opt.TextPtr(e.ReferrerHost), Identified: e.Identified,
		RuleID: opt.TextPtr(e.RuleID), Destination: e.Into,
	}
}

// base is that of the numbers in the ids of events.
const base = 36

// idOf returns the id of an event: instant and number name it among those of its app.
func idOf(p eventstore.Place) string {
	return strconv.FormatInt(int64(p.At), base) + "-" + strconv.FormatInt(p.ID, base)
}

// placeOf returns the place of an event in the list of its app.
func placeOf(p *cursor.Position) (*eventstore.Place, error) {
	_, number, _ := strings.Cut(p.ID, "-")
	id, err := strconv.ParseInt(number, base, 64)
	return &eventstore.Place{At: p.At, ID: id}, err
}

func (s *service) list(ctx context.Context, c *op.Call, in *eventsInput, w op.Window) (op.Page[Events], error) {
	a, err := in.ask(ctx, c, in.EventType)
	if err != nil {
		return op.Page[Events]{}, err
	}
	var before *eventstore.Place
	if w.After != nil {
		if before, err = placeOf(w.After); err != nil {
			return op.Page[Events]{}, err
		}
	}
	events, err := a.events(ctx, s.events, before, w.Limit)
	events, last := op.Cut(w, events)
	return op.Page[Events]{Data: Events{a.common, events}, Last: last}, err
}

// events returns up to limit of the events that come after a place in the list.
func (a *question) events(ctx context.Context, store eventstore.Engine, before *eventstore.Place,
	limit int) ([]Event, error) {
	listed, err := store.List(ctx, a.Filter, before, limit)
	events := make([]Event, len(listed))
	for i := range listed {
		events[i] = eventOf(&listed[i])
	}
	return events, err
}
