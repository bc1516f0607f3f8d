package database

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// counts are those of a group, in the order of scanCounts.
var counts = fmt.Sprintf(`count(*) AS events, count(CASE WHEN event.type = %[1]d THEN 1 END) AS clicks,
	count(CASE WHEN event.type = %[2]d THEN 1 END) AS opens, count(CASE WHEN event.type = %[3]d THEN 1 END) AS views,
	count(CASE WHEN event.type = %[4]d THEN 1 END) AS loads, count(CASE WHEN event.type = %[5]d THEN 1 END) AS created,
	count(CASE WHEN event.type = %[6]d THEN 1 END) AS matched,
	count(CASE WHEN event.type = %[1]d AND event.install <> 0 THEN 1 END) AS identified,
	COALESCE(min(event.at), 0) AS first_at, COALESCE(max(event.at), 0) AS last_at,
	COALESCE(max(CASE WHEN event.type = %[1]d THEN event.at END), 0) AS click_at`,
	typeClick, typeAppOpen, typeContentView, typeLegacyContentLoad, typeRecoveryCreated, typeRecoveryMatched)

// distinct counts take longer, and so are asked for one by one.
var distinct = fmt.Sprintf(`count(DISTINCT CASE WHEN event.type = %[1]d THEN event.visitor END) AS visitors
	count(DISTINCT CASE WHEN event.type = %[1]d THEN l.link_id END) AS links
	count(DISTINCT CASE WHEN event.type IN (%[2]d, %[3]d, %[4]d) AND event.install <> 0 THEN event.install END) AS installs`,
	typeClick, typeAppOpen, typeContentView, typeLegacyContentLoad)

// Joins of event. SQLite keeps the order of a CROSS JOIN, so that it reads the period
// of the app once and looks up the rest.
const (
	joinLink   = " CROSS JOIN event_link l"
	onLink     = "l.no = event.link_no"
	joinClient = " CROSS JOIN event_client c"
	onClient   = "c.no = event.client_no"
)

// values are what Count groups by, from event (no prefix), event_link l, event_client c
// and the others that groups joins.
var values = map[eventstore.Dimension]string{
	eventstore.None:       "''",
	eventstore.Time:       "period.since",
	eventstore.ByCountry:  "event.country",
	eventstore.ByDevice:   "c.device",
	eventstore.BySource:   "c.source",
	eventstore.ByOS:       "c.os",
	eventstore.ByBrowser:  "c.browser",
	eventstore.ByReferrer: "COALESCE(r.value, '')",
	eventstore.ByLink:     "l.link_id",
	eventstore.ByDomain:   "l.hostname",
	eventstore.ByPrefix:   "l.prefix",
	eventstore.ByCampaign: "l.campaign_id",
	eventstore.ByFolder:   "l.folder_id",
	eventstore.ByTag:      "tagged.tag",
	eventstore.ByGroup:    "l.link_group",
	eventstore.ByType:     nameOfType,
}

// nameOfType turns the place of a type into the type.
var nameOfType = func() string {
	b := strings.Builder{}
	for i, t := range eventstore.Types {
		fmt.Fprintf(&b, " WHEN %d THEN '%s'", i, t)
	}
	return "CASE event.type" + b.String() + " END"
}()

// Count implements eventstore.Engine.
func (s *Store) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) ([][]eventstore.Row, error) {
	return eventstore.OneByOne(ctx, f, by, s.count)
}

func (s *Store) count(ctx context.Context, q *eventstore.Query) ([]eventstore.Row, error) {
	query, args, ok := SelectCounts(s.db.Dialect(), q)
	if !ok {
		return nil, nil
	}
	return long(ctx, s, q.Account, func(r store.Row) (row eventstore.Row, err error) {
		var since clock.Instant
		var value any = &row.Value
		if q.By == eventstore.Time {
			value = &since
		}
		err = r.Scan(value, &row.Events, &row.Clicks, &row.AppOpens, &row.ContentViews, &row.LegacyContentLoads,
			&row.RecoveriesCreated, &row.RecoveriesMatched, &row.IdentifiedClicks, &row.First, &row.Last,
			&row.LastClick, &row.UniqueVisitors, &row.ActiveLinks, &row.UniqueInstalls)
		if q.By == eventstore.Time {
			// The first period begins where the filter does, which may be later than its bound.
			after, _ := slices.BinarySearch(q.Bounds, since+1)
			row.Period = after - 1
		}
		return row, err
	}, query, args...)
}

// SelectCounts returns the query of Count, or false where no period can have events.
func SelectCounts(d *store.Dialect, q *eventstore.Query) (query string, args []any, ok bool) {
	w, from, with := where(&q.Filter), "event", ""
	switch q.By {
	case eventstore.Time:
		var periods []any
		if with, periods = periodsOf(q); periods == nil {
			return "", nil, false
		}
		args, from = periods, "period CROSS JOIN event"
		w.And("event.at >= period.since").And("event.at < period.until")
	case eventstore.ByTag:
		with, args = tagged(d), []any{q.AppID}
		from += " CROSS JOIN tagged"
		w.And("tagged.no = event.link_no")
	case eventstore.ByReferrer:
		from += " LEFT JOIN event_text r ON r.no = event.referrer_no"
	case eventstore.ByDevice, eventstore.BySource, eventstore.ByOS, eventstore.ByBrowser:
		from += joinClient
		w.And(onClient)
	}
	if q.By != eventstore.Time {
		within(w, &q.Filter)
	}
	if q.Links || strings.HasPrefix(values[q.By], "l.") {
		from += joinLink
		w.And(onLink)
	}
	columns := values[q.By] + " AS value, " + counts
	for i, column := range strings.Split(distinct, "\n") {
		if asked := []bool{q.Visitors, q.Links, q.Installs}[i]; !asked {
			column = "0"
		}
		columns += ", " + column
	}
	query, args = with+"SELECT * FROM (SELECT "+columns+" FROM "+from+w.String(), append(args, w.Args()...)
	if q.By != eventstore.None {
		query += " GROUP BY 1"
	}
	chosen, args := ranked(d, q, args)
	return query + ") AS counted" + chosen, args, true
}

// ranked returns which of the groups are returned, and in which order.
func ranked(d *store.Dialect, q *eventstore.Query, args []any) (string, []any) {
	w, order := &store.Where{}, " ORDER BY value"
	if q.Clicked {
		w.And("clicks > 0")
	}
	if q.By != eventstore.Time {
		order = " ORDER BY clicks DESC, value" + d.Bytewise
		if q.After != nil {
			w.And("(clicks < ? OR clicks = ? AND value"+d.Bytewise+" > ?)", q.After.Clicks, q.After.Clicks, q.After.Value)
		}
	}
	if args = append(args, w.Args()...); q.Limit > 0 {
		order, args = order+" LIMIT ?", append(args, q.Limit)
	}
	return w.String() + order, args
}

// periodsOf returns the periods of a query by Time as a table, each cut to the filter's
// own period, and nil when nothing is left of any.
func periodsOf(q *eventstore.Query) (with string, args []any) {
	for i, bound := range q.Bounds[:len(q.Bounds)-1] {
		since, until := max(bound, q.Start), min(q.Bounds[i+1], q.End)
		if since < until {
			args = append(args, int64(since), int64(until))
		}
	}
	const first, more = "(CAST(? AS BIGINT), CAST(? AS BIGINT))", ", (?, ?)"
	return "WITH period (since, until) AS (VALUES " + first + strings.Repeat(more, max(len(args)/2-1, 0)) + ") ", args
}

// tagged returns the tags of the states of an app's links as a table; a state without
// tags has the tag "".
func tagged(d *store.Dialect) string {
	comma := d.Position("rest", "','")
	return `WITH RECURSIVE part (no, tag, rest) AS (
	SELECT no, '', substr(tag_ids, 2) FROM event_link WHERE app_no = (SELECT no FROM event_app WHERE app_id = ?)
	UNION ALL SELECT no, substr(rest, 1, ` + comma + ` - 1), substr(rest, ` + comma + ` + 1) FROM part WHERE rest <> ''),
tagged AS (SELECT no, tag FROM part WHERE tag <> '' OR rest = '') `
}
