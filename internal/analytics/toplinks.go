package analytics

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// TopLinks is the data of getAnalyticsTopLinks.
type TopLinks struct {
	Common
	Items []TopLink `json:"items" maxItems:"100"`
}

// SchemaName implements schema.Named.
func (TopLinks) SchemaName() string { return "AnalyticsTopLinks" }

// TopLink counts the clicks on a link.
type TopLink struct {
	LinkID         string        `json:"linkId"`
	Title          *string       `json:"title" doc:"Its title now; null when the link has none or was deleted."`
	Domain         string        `json:"domain" doc:"Like prefix and slug, those of the link's newest event."`
	Prefix         string        `json:"prefix"`
	Slug           string        `json:"slug"`
	Clicks         int64         `json:"clicks"`
	UniqueVisitors int64         `json:"uniqueVisitors"`
	LastClickAt    clock.Instant `json:"lastClickAt" format:"date-time" doc:"The last click in the period."`
}

// SchemaName implements schema.Named.
func (TopLink) SchemaName() string { return "AnalyticsTopLink" }

// Position implements op.Positioned.
func (l TopLink) Position() cursor.Position {
	return cursor.Position{At: clock.Instant(l.Clicks), ID: l.LinkID}
}

func (s *service) topLinks(ctx context.Context, c *op.Call, in *Query, w op.Window) (op.Page[TopLinks], error) {
	a, err := in.ask(ctx, c, "")
	if err != nil {
		return op.Page[TopLinks]{}, err
	}
	rows, err := eventstore.Count(ctx, s.events, eventstore.Query{Filter: a.Filter, Grouping: byLink(w)})
	if err != nil {
		return op.Page[TopLinks]{}, err
	}
	links, err := s.links(ctx, c.DB, a.AppID, rows)
	links, last := op.Cut(w, links)
	return op.Page[TopLinks]{Data: TopLinks{a.common, links}, Last: last}, err
}

// byLink is what a part of the list of the links with the most clicks is counted by.
func byLink(w op.Window) eventstore.Grouping {
	g := eventstore.Grouping{By: eventstore.ByLink, Visitors: true, Clicked: true, Limit: w.Limit}
	if w.After != nil {
		g.After = &eventstore.Rank{Clicks: int64(w.After.At), Value: w.After.ID}
	}
	return g
}

// links returns the links of an app that were counted.
func (s *service) links(ctx context.Context, q store.Q, appID string, rows []eventstore.Row) ([]TopLink, error) {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].Value
	}
	states, err := s.events.Links(ctx, appID, ids)
	if err != nil {
		return nil, err
	}
	titles, err := link.Titles(ctx, q, appID, ids)
	top := make([]TopLink, len(rows))
	for i, r := range rows {
		state := states[r.Value]
		top[i] = TopLink{r.Value, titles[r.Value], state.Hostname, state.Prefix, state.Slug, r.Clicks, r.UniqueVisitors,
			r.LastClick}
	}
	return top, err
}
