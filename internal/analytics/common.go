package analytics

import (
	"context"
	"fmt"
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// Common is the part of the data that all analytics answers share.
type Common struct {
	AppID       string        `json:"appId"`
	Period      Period        `json:"period"`
	Filters     Filters       `json:"filters"`
	GeneratedAt clock.Instant `json:"generatedAt" format:"date-time"`
	Coverage    Coverage      `json:"coverage"`
}

// Period is the part of time that an answer covers.
type Period struct {
	Start          clock.Instant `json:"start" format:"date-time"`
	End            clock.Instant `json:"end" format:"date-time"`
	Timezone       string        `json:"timezone"`
	StartInclusive bool          `json:"startInclusive"`
	EndExclusive   bool          `json:"endExclusive"`
}

// SchemaName implements schema.Named.
func (Period) SchemaName() string { return "AnalyticsPeriod" }

// Filters repeats what an answer was filtered by.
type Filters struct {
	CampaignID *string `json:"campaignId"`
	FolderID   *string `json:"folderId"`
	TagID      *string `json:"tagId"`
	Group      string  `json:"group"`
	LinkID     *string `json:"linkId"`
	Domain     *string `json:"domain"`
	Prefix     *string `json:"prefix"`
	Device     *string `json:"device"`
	Source     *string `json:"source" maxLength:"20"`
	Country    *string `json:"country"`
	EventType  *string `json:"eventType"`
}

// SchemaName implements schema.Named.
func (Filters) SchemaName() string { return "AnalyticsFilters" }

// Coverage states what the numbers rest on and what they do not prove.
type Coverage struct {
	Source                string   `json:"source" maxLength:"50"`
	Grouping              string   `json:"grouping" maxLength:"50"`
	DeletedLinks          string   `json:"deletedLinks" maxLength:"50"`
	HistoricalAggregates  string   `json:"historicalAggregates" maxLength:"50"`
	UniqueVisitors        string   `json:"uniqueVisitors" maxLength:"50"`
	NativeTrust           string   `json:"nativeTrust" maxLength:"50"`
	CompletenessGuarantee bool     `json:"completenessGuaranteed"`
	Limitations           []string `json:"limitations"`
}

// SchemaName implements schema.Named.
func (Coverage) SchemaName() string { return "AnalyticsCoverage" }

var coverage = Coverage{
	Source: "retained_events", Grouping: "none", DeletedLinks: "included", HistoricalAggregates: "not_merged",
	UniqueVisitors: "estimate", NativeTrust: "client_reported",
	Limitations: []string{
		"Totals come from retained event rows only.",
		"Unique visitors are exact within a UTC day and an estimate over several: the visitor hash changes daily.",
		"Opening a link does not prove an installation; native events are reported by clients.",
	},
}

// coverageOf returns the coverage of what a filter chooses. It tells events that were
// not stored by the UTC days on which the period lies: more is not known of them.
func coverageOf(ctx context.Context, q store.Q, f eventstore.Filter) (Coverage, error) {
	c := coverage
	if f.Start >= f.End {
		return c, nil
	}
	events, err := eventstore.Unstored(ctx, q, f.AppID, f.Start, f.End-1)
	if events > 0 {
		c.Limitations = append(slices.Clip(c.Limitations), fmt.Sprintf("On the UTC days from %s to %s, %d events of "+
			"the app came faster than events are stored. Their senders got the usual answer, but they are not in these "+
			"numbers.",
			f.Start.Time().Format(dayLabel), (f.End-1).Time().Format(dayLabel), events))
	}
	return c, err
}
