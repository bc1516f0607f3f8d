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
	a, err := in.ask(ctx, c, "")
	if err != nil {
		return op.Item[Native]{}, err
	}
	units := a.units(days)
	counted, err := s.events.Count(ctx, a.Filter, eventstore.Grouping{Installs: true},
		eventstore.Grouping{By: eventstore.ByDevice}, eventstore.Grouping{By: eventstore.Time, Bounds: bounds(units, a.end)})
	if err != nil {
		return op.Item[Native]{}, err
	}
	total, devices, days := &counted[0][0], counted[1], counted[2]
	n := Native{Common: a.common, Totals: NativeTotals{nativeCountsOf(total), total.UniqueInstalls},
		ByPlatform: platformsOf(devices), Buckets: make([]NativeBucket, len(units))}
	for i, unit := range units {
		n.Buckets[i].Unit = unit
	}
	for i := range days {
		n.Buckets[days[i].Period].NativeCounts = nativeCountsOf(&days[i])
	}
	return op.Item[Native]{Data: n}, nil
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
