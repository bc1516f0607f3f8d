package analytics

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/op"
)

// Counts are the numbers of any group of events. clicks counts those of people;
// crawlers are left out unless device=bot is asked for.
type Counts struct {
	Clicks             int64 `json:"clicks"`
	UniqueVisitors     int64 `json:"uniqueVisitors"`
	IdentifiedClicks   int64 `json:"identifiedClicks" doc:"Clicks with the id of an installation. 0 today: no click carries one."`
	AppOpens           int64 `json:"appOpens"`
	ContentViews       int64 `json:"contentViews"`
	LegacyContentLoads int64 `json:"legacyContentLoads" doc:"0: nothing reports such events here. It is there for clients that expect it."`
}

func countsOf(r *eventstore.Row) Counts {
	return Counts{r.Clicks, r.UniqueVisitors, r.IdentifiedClicks, r.AppOpens, r.ContentViews, r.LegacyContentLoads}
}

// Totals are the numbers of a whole period.
type Totals struct {
	Counts
	ActiveLinks  int64          `json:"activeLinks" doc:"Links with a click in the period."`
	FirstEventAt *clock.Instant `json:"firstEventAt" format:"date-time"`
	LastEventAt  *clock.Instant `json:"lastEventAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Totals) SchemaName() string { return "AnalyticsTotals" }

// Summary is the data of getAnalyticsSummary.
type Summary struct {
	Common
	Totals Totals `json:"totals"`
}

// SchemaName implements schema.Named.
func (Summary) SchemaName() string { return "AnalyticsSummary" }

func (s *service) summary(ctx context.Context, c *op.Call, in *Query) (op.Item[Summary], error) {
	summary, err := in.summary(ctx, c, s.events)
	return op.Item[Summary]{Data: summary}, err
}

func (in *Query) summary(ctx context.Context, c *op.Call, events eventstore.Engine) (Summary, error) {
	a, err := in.ask(ctx, c, "")
	if err != nil {
		return Summary{}, err
	}
	rows, err := eventstore.Count(ctx, events, eventstore.Query{Filter: a.Filter, Grouping: inTotal})
	if err != nil {
		return Summary{}, err
	}
	return Summary{a.common, totalsOf(&rows[0])}, nil
}

// inTotal is what Totals are counted by.
var inTotal = eventstore.Grouping{Visitors: true, Links: true}

func totalsOf(r *eventstore.Row) Totals {
	t := Totals{Counts: countsOf(r), ActiveLinks: r.ActiveLinks}
	if r.Events > 0 {
		t.FirstEventAt, t.LastEventAt = &r.First, &r.Last
	}
	return t
}
