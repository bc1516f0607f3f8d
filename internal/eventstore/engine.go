package eventstore

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
)

// Engine keeps events and answers questions about them. It is safe for concurrent
// use. What all engines promise is what package enginetest holds them to.
type Engine interface {
	// Append adds the events of a batch, each once, however often the log hands it
	// out: it is there with everything of the batch, or with nothing, when it fails.
	Append(ctx context.Context, b *clicklog.Batch) error
	// Count counts the events that f chooses in groups, several times where by has
	// several groupings, and returns the groups of each. Where an engine can, it counts
	// the same events for all of them.
	Count(ctx context.Context, f Filter, by ...Grouping) ([][]Row, error)
	// List returns up to limit of the events that f chooses, newest first, by instant
	// and then id; those that come after the place before, unless it is nil.
	List(ctx context.Context, f Filter, before *Place, limit int) ([]Listed, error)
	// Links returns the newest known state of links of an app, by id: those that Count
	// has found. Ids that never had an event are left out. A link whose events are all
	// deleted may be there or not.
	Links(ctx context.Context, appID string, ids []string) (map[string]clicklog.Link, error)
	// Read returns up to limit events as they were appended, ordered by app, instant
	// and id; those that come after a place of an app, or all from the first app on
	// for "" and nil. It is for copies: what it returns can be appended elsewhere.
	Read(ctx context.Context, appID string, after *Place, limit int) ([]clicklog.Event, error)
	// Sweep deletes events from before an instant, about limit of them, and returns how
	// many it deleted; fewer than limit means that there are no more.
	Sweep(ctx context.Context, before clock.Instant, limit int64) (deleted int64, err error)
	// Erase deletes all events of a link, or of an install, and returns how many.
	// Nobody can read them from the instant gone on.
	Erase(ctx context.Context, e Erasure) (deleted int64, gone clock.Instant, err error)
	// Run does what the engine has to do in the background until ctx is done.
	Run(ctx context.Context)
}

// Retention is how long events are kept (completions.md §7).
const Retention = 400 * 24 * time.Hour

// Place is where an event lies among those of its app.
type Place struct {
	At clock.Instant
	ID int64
}

// Erasure chooses the events that Erase deletes: by one of the two.
type Erasure struct {
	LinkID string
	// Install is the keyed hash of an install id, as clicklog.Event has it.
	Install int64
}

// Dimension is what Count groups events by.
type Dimension string

// The dimensions. Their names but for those of None and Time are the ones of
// getAnalyticsBreakdown (completions.md §7).
const (
	// None puts all events into one group, which is there even without events.
	None Dimension = ""
	// Time groups by the periods of Query.Bounds.
	Time       Dimension = "time"
	ByCountry  Dimension = "country"
	ByDevice   Dimension = "device"
	BySource   Dimension = "source"
	ByOS       Dimension = "os"
	ByBrowser  Dimension = "browser"
	ByReferrer Dimension = "referrer"
	// ByLink groups by link id, over all states of a link.
	ByLink     Dimension = "link"
	ByDomain   Dimension = "domain"
	ByPrefix   Dimension = "prefix"
	ByCampaign Dimension = "campaign"
	ByFolder   Dimension = "folder"
	// ByTag counts an event for each tag of its link.
	ByTag   Dimension = "tag"
	ByGroup Dimension = "group"
	ByType  Dimension = "eventType"
)

// Query asks for the counts of the groups of one grouping.
type Query struct {
	Filter
	Grouping
}

// Count answers a query.
func Count(ctx context.Context, e Engine, q Query) ([]Row, error) {
	rows, err := e.Count(ctx, q.Filter, q.Grouping)
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// OneByOne is Engine.Count for an engine that answers one query after the other: what is
// loaded between two groupings is counted by the later one.
func OneByOne(ctx context.Context, f Filter, by []Grouping, count func(context.Context, *Query) ([]Row, error)) (
	all [][]Row, err error) {
	defer fault.Wrap(&err, "count events of app %s from %s to %s", f.AppID, f.Start, f.End)
	for _, g := range by {
		rows, err := count(ctx, &Query{f, g})
		if err != nil {
			return nil, err
		}
		all = append(all, rows)
	}
	return all, nil
}

// Grouping tells how Count groups events and what it counts of them.
type Grouping struct {
	By Dimension
	// Bounds are the ends of the periods of Time, strictly rising: group i has the
	// events from Bounds[i] on that are before Bounds[i+1]. Filter.Start and End lie
	// at the first and the last bound or within.
	Bounds []clock.Instant
	// Visitors, Links and Installs ask for UniqueVisitors, ActiveLinks and
	// UniqueInstalls, which take longer than the rest and are 0 otherwise.
	Visitors, Links, Installs bool
	// Clicked leaves groups without clicks out.
	Clicked bool
	// After leaves out the groups that come before, and at, a place in the order.
	After *Rank
	// Limit is the most groups that are returned; 0 means all.
	Limit int
}

// Rank is the place of a group in the order of Count.
type Rank struct {
	Clicks int64
	Value  string
}

// Row counts the events of a group. Groups without events are left out. Those of Time
// are ordered by Period, all others by clicks, most first, and then by Value, byte by
// byte.
type Row struct {
	// Value is that of the dimension; "" for events that have none, such as those of a
	// link without a campaign. A prefix may be "", too.
	Value string
	// Period is the index of the group's first bound, for Time.
	Period int

	// Events counts those of all types, of which the following are.
	Events, Clicks, AppOpens, ContentViews, LegacyContentLoads int64
	RecoveriesCreated, RecoveriesMatched                       int64
	// IdentifiedClicks are clicks with a known install.
	IdentifiedClicks int64
	// UniqueVisitors counts distinct visitor hashes over the clicks: exact within a UTC
	// day, an estimate over several, as the hash changes daily.
	UniqueVisitors int64
	// ActiveLinks counts links with a click, deleted ones included.
	ActiveLinks int64
	// UniqueInstalls counts distinct installs over app opens, content views and legacy
	// content loads.
	UniqueInstalls int64
	// First and Last are over events of all types, LastClick is 0 without a click.
	First, Last, LastClick clock.Instant
}

// Listed is an event as a list shows it: without visitor and install.
type Listed struct {
	Place
	Type                               clicklog.EventType
	Link                               clicklog.Link // without TagIDs
	Device, OS, Browser, Country       string
	Source, ReferrerHost, RuleID, Into string
	Identified                         bool
}
