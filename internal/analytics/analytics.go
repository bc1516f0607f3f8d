// Package analytics answers what happened on an app's links, from the event
// store alone (api-v1.md, Analytics; completions.md §7). It does not hold
// events: recording is the redirector's, storing package eventstore's.
package analytics

import (
	"context"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// maxRange is the longest period of a query.
const maxRange = 366 * 24 * time.Hour

// Query is what all analytics operations take.
type Query struct {
	AppID      string        `query:"appId" required:"true" maxLength:"500"`
	Start      clock.Instant `query:"start" format:"date-time" required:"true" doc:"Inclusive."`
	End        clock.Instant `query:"end" format:"date-time" required:"true" doc:"Exclusive, at most 366 days after start."`
	Timezone   string        `query:"timezone" maxLength:"64" default:"UTC"`
	Group      string        `query:"group" enum:"all,main,operational" default:"all"`
	LinkID     string        `query:"linkId" maxLength:"500"`
	Domain     string        `query:"domain" maxLength:"253"`
	Prefix     *string       `query:"prefix" maxLength:"200" allowEmpty:"true"`
	CampaignID string        `query:"campaignId" maxLength:"100"`
	FolderID   string        `query:"folderId" maxLength:"100"`
	TagID      string        `query:"tagId" maxLength:"100"`
	Device     string        `query:"device" enum:"android,ios,desktop,other,bot" doc:"Crawlers are counted only when bot is asked for."`
	Source     string        `query:"source" enum:"browser,social,qr,app,unknown"`
	Country    string        `query:"country" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2, or ZZ for unknown."`
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
	Source     *string `json:"source"`
	Country    *string `json:"country"`
	EventType  *string `json:"eventType"`
}

// SchemaName implements schema.Named.
func (Filters) SchemaName() string { return "AnalyticsFilters" }

// Coverage states what the numbers rest on and what they do not prove.
type Coverage struct {
	Source                string   `json:"source"`
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

// Common is the part of the data that all analytics answers share.
type Common struct {
	AppID       string        `json:"appId"`
	Period      Period        `json:"period"`
	Filters     Filters       `json:"filters"`
	GeneratedAt clock.Instant `json:"generatedAt" format:"date-time"`
	Coverage    Coverage      `json:"coverage"`
}

var coverage = Coverage{
	Source: "retained_events", Grouping: "none", DeletedLinks: "included", HistoricalAggregates: "not_merged",
	UniqueVisitors: "estimate", NativeTrust: "client_reported",
	Limitations: []string{
		"Totals come from retained event rows only.",
		"Unique visitors are exact within a UTC day and an estimate over several: the visitor hash changes daily.",
		"Opening a link does not prove an installation; native events are reported by clients.",
	},
}

// parse checks a query and returns the filter and the common data it stands
// for.
func (q *Query) parse(now clock.Instant) (eventstore.Filter, Common, error) {
	zone := q.Timezone
	if zone == "" {
		zone = "UTC"
	}
	f := eventstore.Filter{
		AppID: q.AppID, Start: q.Start, End: q.End, LinkID: q.LinkID, CampaignID: q.CampaignID, FolderID: q.FolderID,
		TagID: q.TagID, Device: q.Device, Source: q.Source, Country: q.Country, Prefix: q.Prefix,
	}
	c := Common{
		AppID: q.AppID, Period: Period{Start: q.Start, End: q.End, Timezone: zone, StartInclusive: true,
			EndExclusive: true},
		Filters: Filters{
			CampaignID: given(q.CampaignID), FolderID: given(q.FolderID), TagID: given(q.TagID), Group: "all",
			LinkID: given(q.LinkID),
			Domain: given(q.Domain), Prefix: q.Prefix, Device: given(q.Device), Source: given(q.Source),
			Country: given(q.Country),
		},
		GeneratedAt: now, Coverage: coverage,
	}
	if q.Group != "" && q.Group != "all" {
		f.Group, c.Filters.Group = q.Group, q.Group
	}
	if q.Domain != "" {
		host, ok := weburl.Hostname(q.Domain)
		if !ok {
			return f, c, fault.InvalidQuery("domain", fault.ReasonInvalidFormat,
				"must be a hostname such as go.example.com")
		}
		f.Hostname = host
	}
	// "Local" and "" name the machine's zone, which is nobody's here.
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" || strings.HasPrefix(zone, "posix/") ||
		strings.HasPrefix(zone, "right/") {
		return f, c, fault.InvalidQuery("timezone", fault.ReasonInvalidFormat,
			"must be an IANA time zone such as Europe/Berlin")
	}
	if q.End <= q.Start {
		return f, c, fault.InvalidQuery("end", fault.ReasonOutOfRange, "the end must be after the start")
	}
	if q.End > q.Start.Add(maxRange) {
		return f, c, fault.InvalidQuery("end", fault.ReasonOutOfRange, "the period exceeds 366 days")
	}
	return f, c, nil
}

func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// service holds what the operations need besides the call.
type service struct{ events *eventstore.Store }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, events *eventstore.Store) part.Part {
	a := &service{events}
	op.Read(p, op.Op{ID: "getAnalyticsSummary", Method: "GET", Path: "/analytics/summary", Perm: "analytics:read",
		App: op.AppInQuery, Summary: "Get click totals of a period"}, a.summary)
	return part.Part{
		Name: "analytics",
		Sweeps: []part.Sweep{{Name: "events", Run: func(ctx context.Context, db *store.DB, limit int) (int64, error) {
			return events.Sweep(ctx, db.Now().Add(-eventstore.Retention), int64(limit))
		}}},
		OfApp: part.OfApp{Tables: []string{"event_app"}},
	}
}

// Summary is the data of getAnalyticsSummary.
type Summary struct {
	Common
	Totals Totals `json:"totals"`
}

// SchemaName implements schema.Named.
func (Summary) SchemaName() string { return "AnalyticsSummary" }

// Totals are the counts of a period. clicks counts those of people; crawlers
// are left out unless device=bot is asked for.
type Totals struct {
	Clicks             int64          `json:"clicks"`
	UniqueVisitors     int64          `json:"uniqueVisitors"`
	IdentifiedClicks   int64          `json:"identifiedClicks" doc:"Clicks with a first-party visitor id."`
	AppOpens           int64          `json:"appOpens"`
	ContentViews       int64          `json:"contentViews"`
	LegacyContentLoads int64          `json:"legacyContentLoads"`
	ActiveLinks        int64          `json:"activeLinks" doc:"Links with a click in the period."`
	FirstEventAt       *clock.Instant `json:"firstEventAt" format:"date-time"`
	LastEventAt        *clock.Instant `json:"lastEventAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Totals) SchemaName() string { return "AnalyticsTotals" }

func (s *service) summary(ctx context.Context, c *op.Call, in *Query) (op.Item[Summary], error) {
	summary, err := in.summary(ctx, s.events, c.Now)
	return op.Item[Summary]{Data: summary}, err
}

func (q *Query) summary(ctx context.Context, events *eventstore.Store, now clock.Instant) (Summary, error) {
	filter, common, err := q.parse(now)
	if err != nil {
		return Summary{}, err
	}
	t, err := events.Summary(ctx, filter)
	return Summary{Common: common, Totals: Totals(t)}, err
}
