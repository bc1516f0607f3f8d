package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// values are what Count groups by, but for Time.
var values = map[eventstore.Dimension]string{
	eventstore.None:       "''",
	eventstore.ByCountry:  "country",
	eventstore.ByDevice:   "device",
	eventstore.BySource:   "source",
	eventstore.ByOS:       "os",
	eventstore.ByBrowser:  "browser",
	eventstore.ByReferrer: "referrer",
	eventstore.ByLink:     "link",
	eventstore.ByDomain:   "hostname",
	eventstore.ByPrefix:   "prefix",
	eventstore.ByCampaign: "campaign",
	eventstore.ByFolder:   "folder",
	eventstore.ByTag:      "arrayJoin(if(empty(tags), [''], tags))",
	eventstore.ByGroup:    "link_group",
	eventstore.ByType:     "type",
}

// counts are those of a group, in the order of scanRow. max is 0 where nothing is.
const counts = `toInt64(count()), toInt64(countIf(type = 'click')) AS clicks, toInt64(countIf(type = 'app_open')),
	toInt64(countIf(type = 'content_view')), toInt64(countIf(type = 'legacy_content_load')),
	toInt64(countIf(type = 'recovery_created')), toInt64(countIf(type = 'recovery_matched')),
	toInt64(countIf(type = 'click' AND install <> 0)), min(at), max(at), maxIf(at, type = 'click')`

// distinct counts take longer, and so are asked for one by one.
const (
	visitors = "toInt64(uniqExactIf(visitor, type = 'click'))"
	links    = "toInt64(uniqExactIf(link, type = 'click'))"
	installs = "toInt64(uniqExactIf(install, type IN ('app_open', 'content_view', 'legacy_content_load') AND install <> 0))"
)

// Count implements eventstore.Engine.
func (s *Store) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) ([][]eventstore.Row, error) {
	return eventstore.OneByOne(ctx, f, by, s.count)
}

func (s *Store) count(ctx context.Context, q *eventstore.Query) ([]eventstore.Row, error) {
	return long(ctx, s, q.Account, func(r driver.Rows) (row eventstore.Row, err error) {
		var period int64
		into := any(&row.Value)
		if q.By == eventstore.Time {
			into = &period
		}
		err = r.Scan(into, &row.Events, &row.Clicks, &row.AppOpens, &row.ContentViews, &row.LegacyContentLoads,
			&row.RecoveriesCreated, &row.RecoveriesMatched, &row.IdentifiedClicks, (*int64)(&row.First),
			(*int64)(&row.Last), (*int64)(&row.LastClick), &row.UniqueVisitors, &row.ActiveLinks, &row.UniqueInstalls)
		row.Period = int(period)
		return row, err
	}, s.selectCounts(q))
}

// selectCounts returns the query of Count.
func (s *Store) selectCounts(q *eventstore.Query) string {
	value, order := values[q.By]+" AS value", "clicks DESC, value"
	if q.By == eventstore.Time {
		value, order = "toInt64("+period(q.Bounds)+") AS value", "value"
	}
	query := "SELECT " + value + ", " + counts
	for i, column := range []string{visitors, links, installs} {
		if asked := []bool{q.Visitors, q.Links, q.Installs}[i]; !asked {
			column = "toInt64(0)"
		}
		query += ", " + column
	}
	query += " FROM " + s.table + " WHERE " + where(&q.Filter)
	if q.By == eventstore.None {
		return query
	}
	having := "1"
	if q.Clicked {
		having += " AND clicks > 0"
	}
	if q.After != nil && q.By != eventstore.Time {
		having += fmt.Sprintf(" AND (clicks < %d OR clicks = %[1]d AND value > %s)", q.After.Clicks, text(q.After.Value))
	}
	query += " GROUP BY value HAVING " + having + " ORDER BY " + order
	if q.Limit > 0 {
		query += " LIMIT " + strconv.Itoa(q.Limit)
	}
	return query
}

// period returns the expression for the index of the period that at lies in. It has no
// search: slots of equal length lead to the last bound that is not after their begin,
// and the few bounds within a slot are compared.
func period(bounds []clock.Instant) string {
	first, last := bounds[0], bounds[len(bounds)-1]
	const perBound = 4
	length := max((last-first)/clock.Instant(perBound*len(bounds)), 1)
	var slots []int64
	ends := slices.Clone(bounds)
	inside, next := 0, 0
	for begin := first; begin < last; begin += length {
		for next < len(bounds) && bounds[next] <= begin {
			next++
		}
		slots = append(slots, int64(next-1))
		end := next
		for end < len(bounds)-1 && bounds[end] < begin+length {
			end++
		}
		inside = max(inside, end-next)
	}
	slot := fmt.Sprintf("arrayElement(%s, intDiv(at - %d, %d) + 1)", array(slots), first, length)
	for range inside { // an element that is not there would be 0
		ends = append(ends, math.MaxInt64)
	}
	compared := slot
	for i := range inside {
		compared += fmt.Sprintf(" + (at >= arrayElement(%s, %s + %d))", array(ends), slot, i+2)
	}
	return compared
}

// array returns numbers as an array.
func array[T ~int64](list []T) string { return "[" + strings.Trim(numbers(list), "()") + "]" }
