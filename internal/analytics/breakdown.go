package analytics

import (
	"context"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
)

type breakdownInput struct {
	Query
	Dimension eventstore.Dimension `query:"dimension" required:"true" enum:"country,device,source,os,browser,referrer,link,domain,prefix,campaign,folder,tag,group,eventType"`
	EventType string               `query:"eventType" enum:"click,app_open,content_view,legacy_content_load,recovery_created,recovery_matched"`
	Limit     int                  `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"How many values to return."`
}

// Breakdown is the data of getAnalyticsBreakdown.
type Breakdown struct {
	Common
	Dimension eventstore.Dimension `json:"dimension" enum:"country,device,source,os,browser,referrer,link,domain,prefix,campaign,folder,tag,group,eventType"`
	Truncated bool                 `json:"truncated" doc:"There are more values than items."`
	Items     []Share              `json:"items" maxItems:"100"`
}

// SchemaName implements schema.Named.
func (Breakdown) SchemaName() string { return "AnalyticsBreakdown" }

// Share counts the events with one value of a dimension.
type Share struct {
	Value  *string `json:"value" maxLength:"1000" doc:"An id for link, campaign, folder and tag. null for events without one, and where it is not known."`
	Events int64   `json:"events" doc:"Of all types."`
	Counts
}

// SchemaName implements schema.Named.
func (Share) SchemaName() string { return "AnalyticsBreakdownItem" }

func (s *service) breakdown(ctx context.Context, c *op.Call, in *breakdownInput) (op.Item[Breakdown], error) {
	a, err := in.ask(ctx, c, in.EventType)
	if err != nil {
		return op.Item[Breakdown]{}, err
	}
	rows, err := eventstore.Count(ctx, s.events, eventstore.Query{Filter: a.Filter,
		Grouping: eventstore.Grouping{By: in.Dimension, Visitors: true, Limit: in.Limit + 1}})
	b := Breakdown{Common: a.common, Dimension: in.Dimension, Truncated: len(rows) > in.Limit}
	for i := range rows[:min(len(rows), in.Limit)] {
		r := &rows[i]
		value := opt.TextPtr(r.Value)
		if in.Dimension == eventstore.ByPrefix { // "" is one
			value = &r.Value
		}
		b.Items = append(b.Items, Share{value, r.Events, countsOf(r)})
	}
	return op.Item[Breakdown]{Data: b}, err
}
