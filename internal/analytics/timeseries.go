package analytics

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
)

// maxHours is the longest period that is counted by hours.
const maxHours = 31 * day

type timeseriesInput struct {
	Query
	Granularity granularity `query:"granularity" enum:"hour,day,week,month" default:"day" doc:"Hours are for at most 31 days; weeks begin on Monday."`
}

// Timeseries is the data of getAnalyticsTimeseries.
type Timeseries struct {
	Common
	Granularity granularity `json:"granularity" enum:"hour,day,week,month"`
	Sparse      bool        `json:"sparse" doc:"False: buckets without events are there, with zeros."`
	Buckets     []Bucket    `json:"buckets"`
}

// SchemaName implements schema.Named.
func (Timeseries) SchemaName() string { return "AnalyticsTimeseries" }

// Bucket counts the events of an hour, a day, a week or a month.
type Bucket struct {
	Unit
	Counts
}

// SchemaName implements schema.Named.
func (Bucket) SchemaName() string { return "AnalyticsBucket" }

func (s *service) timeseries(ctx context.Context, c *op.Call, in *timeseriesInput) (op.Item[Timeseries], error) {
	a, err := in.ask(ctx, c, "")
	if err == nil && in.Granularity == hours && a.length() > maxHours {
		err = fault.InvalidQuery("end", fault.ReasonOutOfRange,
			"the period exceeds 31 days, the most for granularity=hour; shorten it, or ask for days")
	}
	if err != nil {
		return op.Item[Timeseries]{}, err
	}
	units := a.units(in.Granularity)
	rows, err := eventstore.Count(ctx, s.events, eventstore.Query{Filter: a.Filter, Grouping: a.inBuckets(units)})
	return op.Item[Timeseries]{Data: Timeseries{Common: a.common, Granularity: in.Granularity,
		Buckets: bucketsOf(units, rows)}}, err
}

// length returns how long the period is, by the clocks of its zone where that is
// shorter: a month has its usual length also when they are put back.
func (a *question) length() time.Duration {
	start, end := a.start.Time().In(a.zone), a.end.Time().In(a.zone)
	return min(end.Sub(start), clocks(end).Sub(clocks(start)))
}

// units returns the units of the zone's calendar in the period.
func (a *question) units(g granularity) []Unit { return units(a.start, a.end, a.zone, g) }

// inBuckets is what the Buckets of units are counted by.
func (a *question) inBuckets(units []Unit) eventstore.Grouping {
	return eventstore.Grouping{By: eventstore.Time, Bounds: bounds(units, a.end), Visitors: true}
}

func bucketsOf(units []Unit, rows []eventstore.Row) []Bucket {
	buckets := make([]Bucket, len(units))
	for i, unit := range units {
		buckets[i].Unit = unit
	}
	for i := range rows {
		buckets[rows[i].Period].Counts = countsOf(&rows[i])
	}
	return buckets
}
