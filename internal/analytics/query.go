package analytics

import (
	"context"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// maxRange is the longest period of a query.
const maxRange = 366 * day

const day = 24 * time.Hour

// Query is what all analytics operations but that of a campaign take.
type Query struct {
	Scope
	CampaignID string `query:"campaignId" maxLength:"100"`
}

// Scope is what all analytics operations take.
type Scope struct {
	AppID    string        `query:"appId" required:"true" maxLength:"500"`
	Start    clock.Instant `query:"start" format:"date-time" required:"true" doc:"Inclusive."`
	End      clock.Instant `query:"end" format:"date-time" required:"true" doc:"Exclusive, at most 366 days after start."`
	Timezone string        `query:"timezone" maxLength:"64" default:"UTC"`
	Group    string        `query:"group" enum:"all,main,operational" default:"all"`
	LinkID   string        `query:"linkId" maxLength:"500"`
	Domain   string        `query:"domain" format:"idn-hostname" maxLength:"253"`
	Prefix   *string       `query:"prefix" maxLength:"200" allowEmpty:"true" doc:"Empty: links without a prefix."`
	FolderID string        `query:"folderId" maxLength:"100"`
	TagID    string        `query:"tagId" maxLength:"100"`
	Device   string        `query:"device" enum:"android,ios,desktop,other,bot" doc:"Crawlers are counted only when bot is asked for."`
	Source   string        `query:"source" enum:"browser,social,qr,app,unknown"`
	Country  string        `query:"country" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2, or ZZ for unknown."`
}

// question is a query that was checked.
type question struct {
	eventstore.Filter
	// start and end are the period that was asked about. That of the filter leaves out
	// what is past its retention, deleted yet or not.
	start, end clock.Instant
	zone       *time.Location
	common     Common
}

// ask checks a query of a call, and reads what was not stored in its period; eventType
// is the only type that counts, "" for all.
func (in *Query) ask(ctx context.Context, c *op.Call, eventType string) (*question, error) {
	a := &question{start: in.Start, end: in.End, Filter: eventstore.Filter{
		Account: c.Actor.OwnerID, AppID: in.AppID, Start: min(max(in.Start, retained(c.Now)), in.End), End: in.End, LinkID: in.LinkID,
		CampaignID: in.CampaignID, FolderID: in.FolderID, TagID: in.TagID, Device: in.Device, Source: in.Source,
		Country: in.Country, EventType: eventType,
	}}
	if in.Prefix != nil {
		prefix := norm.NFC.String(*in.Prefix) // as links have theirs
		a.Prefix = &prefix
	}
	if in.Group != "all" {
		a.Group = in.Group
	}
	var err error
	if a.zone, err = zoneOf(in.Timezone); err != nil {
		return nil, err
	}
	if in.Domain != "" {
		var ok bool
		if a.Hostname, ok = weburl.Hostname(in.Domain); !ok {
			return nil, fault.InvalidQuery("domain", fault.ReasonInvalidFormat,
				"must be a hostname such as go.example.com")
		}
	}
	if in.End <= in.Start {
		return nil, fault.InvalidQuery("end", fault.ReasonOutOfRange, "the end must be after the start")
	}
	if in.End.Sub(in.Start) > maxRange {
		return nil, fault.InvalidQuery("end", fault.ReasonOutOfRange, "the period exceeds 366 days")
	}
	a.common = Common{
		AppID: in.AppID, Period: Period{in.Start, in.End, in.Timezone, true, true},
		Filters: Filters{
			CampaignID: opt.TextPtr(in.CampaignID), FolderID: opt.TextPtr(in.FolderID), TagID: opt.TextPtr(in.TagID),
			Group: in.Group, LinkID: opt.TextPtr(in.LinkID), Domain: opt.TextPtr(a.Hostname), Prefix: a.Prefix,
			Device: opt.TextPtr(in.Device), Source: opt.TextPtr(in.Source), Country: opt.TextPtr(in.Country),
			EventType: opt.TextPtr(eventType),
		},
		GeneratedAt: c.Now,
	}
	a.common.Coverage, err = coverageOf(ctx, c.DB, a.Filter)
	return a, err
}

// zoneOf returns the time zone with an IANA name.
func zoneOf(name string) (*time.Location, error) {
	zone, ok := clock.Zone(name)
	if !ok {
		return nil, fault.InvalidQuery("timezone", fault.ReasonInvalidFormat, clock.ZoneExpected)
	}
	return zone, nil
}
