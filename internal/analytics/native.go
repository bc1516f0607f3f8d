package analytics

import (
	"cmp"
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/op"
)

// Native is the data of getAnalyticsNative.
type Native struct {
	Common
	Totals     NativeTotals   `json:"totals"`
	ByPlatform []PlatformOpen `json:"byPlatform" maxItems:"5"`
	Buckets    []NativeBucket `json:"buckets" doc:"By days of the time zone."`
}

// SchemaName implements schema.Named.
func (Native) SchemaName() string { return "AnalyticsNative" }

// NativeCounts are the numbers of events that apps report.
type NativeCounts struct {
	AppOpens           int64 `json:"appOpens"`
	ContentViews       int64 `json:"contentViews"`
	LegacyContentLoads int64 `json:"legacyContentLoads" doc:"0: nothing reports such events here. It is there for clients that expect it."`
}

// NativeTotals are the numbers of a whole period.
type NativeTotals struct {
	NativeCounts
	UniqueInstalls int64 `json:"uniqueInstalls" doc:"Installations that reported any of these with an installId."`
}

// SchemaName implements schema.Named.
func (NativeTotals) SchemaName() string { return "AnalyticsNativeTotals" }

// PlatformOpen counts the events of apps on a platform.
type PlatformOpen struct {
	Platform     string `json:"platform" enum:"android,ios,desktop,other,bot"`
	AppOpens     int64  `json:"appOpens"`
	ContentViews int64  `json:"contentViews"`
}

// SchemaName implements schema.Named.
func (PlatformOpen) SchemaName() string { return "AnalyticsNativePlatform" }

// NativeBucket counts the events of a day.
type NativeBucket struct {
	Unit
	NativeCounts
}

// SchemaName implements schema.Named.
func (NativeBucket) SchemaName() string { return "AnalyticsNativeBucket" }

func nativeCountsOf(r *eventstore.Row) NativeCounts {
	return NativeCounts{r.AppOpens, r.ContentViews, r.LegacyContentLoads}
}

func (s *service) native(ctx context.Context, c *op.Call, in *Query) (op.Item[Native], error) {
	a, err := in.ask(ctx, c.DB, c.Now, "")
	if err != nil {
		return op.Item[Native]{}, err
	}
	n := Native{Common: a.common}
	all, err := s.events.Count(ctx, eventstore.Query{Filter: a.Filter, Installs: true})
	if err != nil {
		return op.Item[Native]{}, err
	}
	n.Totals = NativeTotals{nativeCountsOf(&all[0]), all[0].UniqueInstalls}
	devices, err := s.events.Count(ctx, eventstore.Query{Filter: a.Filter, By: eventstore.ByDevice})
	if err != nil {
		return op.Item[Native]{}, err
	}
	n.ByPlatform = platformsOf(devices)
	units := units(a.start, a.end, a.zone, days)
	rows, err := s.events.Count(ctx, eventstore.Query{Filter: a.Filter, By: eventstore.Time, Bounds: bounds(units, a.end)})
	n.Buckets = make([]NativeBucket, len(units))
	for i, unit := range units {
		n.Buckets[i].Unit = unit
	}
	for i := range rows {
		n.Buckets[rows[i].Period].NativeCounts = nativeCountsOf(&rows[i])
	}
	return op.Item[Native]{Data: n}, err
}

// platformsOf returns the devices on which apps were opened, those with the most opens
// first.
func platformsOf(devices []eventstore.Row) (all []PlatformOpen) {
	for _, r := range devices {
		if r.AppOpens+r.ContentViews > 0 {
			all = append(all, PlatformOpen{r.Value, r.AppOpens, r.ContentViews})
		}
	}
	slices.SortFunc(all, func(a, b PlatformOpen) int {
		return cmp.Or(cmp.Compare(b.AppOpens, a.AppOpens), cmp.Compare(b.ContentViews, a.ContentViews),
			cmp.Compare(a.Platform, b.Platform))
	})
	return all
}
