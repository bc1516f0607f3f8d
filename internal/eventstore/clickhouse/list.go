package clickhouse

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// scanEvent reads the columns of an event.
func scanEvent(r driver.Rows) (e clicklog.Event, err error) {
	l := &e.Link
	err = r.Scan(&l.AppID, (*int64)(&e.At), &e.ID, (*string)(&e.Type), &e.Visitor, &e.Install, &l.ID, &l.Hostname,
		&l.Prefix, &l.Slug, &l.Group, &l.CampaignID, &l.FolderID, &l.TagIDs, &e.Device, &e.OS, &e.Browser, &e.Source,
		&e.Country, &e.ReferrerHost, &e.RuleID, &e.Destination)
	return e, err
}

// places returns the query of the events at the first places that meet conditions in an
// order. Only their other columns are read, which are most of what an event takes.
func (s *Store) places(app, conditions, order string, limit int) string {
	places := "SELECT at, id FROM " + s.table + " WHERE " + conditions + " ORDER BY " + order + " LIMIT " +
		strconv.Itoa(limit)
	return "SELECT " + columns + " FROM " + s.table + " WHERE app = " + text(app) + " AND (at, id) IN (" + places +
		") ORDER BY " + order
}

// List implements eventstore.Engine.
func (s *Store) List(ctx context.Context, f eventstore.Filter, before *eventstore.Place, limit int) (
	[]eventstore.Listed, error) {
	conditions := where(&f)
	if before != nil {
		conditions += fmt.Sprintf(" AND (at < %d OR at = %[1]d AND id < %d)", before.At, before.ID)
	}
	listed, err := long(ctx, s, f.Account, func(r driver.Rows) (eventstore.Listed, error) {
		e, err := scanEvent(r)
		e.Link.TagIDs = nil
		return eventstore.Listed{
			Place: eventstore.Place{At: e.At, ID: e.ID}, Type: e.Type, Link: e.Link, Device: e.Device, OS: e.OS,
			Browser: e.Browser, Country: e.Country, Source: e.Source, ReferrerHost: e.ReferrerHost, RuleID: e.RuleID,
			Into: e.Destination, Identified: e.Install != 0,
		}, err
	}, s.places(f.AppID, conditions, "at DESC, id DESC", limit))
	if err != nil {
		return nil, fmt.Errorf("events of app %s from %s to %s: %w", f.AppID, f.Start, f.End, err)
	}
	return listed, nil
}

// Links implements eventstore.Engine. The newest state of a link is that of its newest
// event.
func (s *Store) Links(ctx context.Context, appID string, ids []string) (map[string]clicklog.Link, error) {
	links, asked := map[string]clicklog.Link{}, map[string]bool{}
	for _, id := range ids {
		asked[id] = true
	}
	if len(ids) == 0 {
		return links, nil
	}
	newest, err := long(ctx, s, appID, scanEvent, "SELECT "+columns+" FROM "+s.table+" WHERE app = "+text(appID)+
		" AND link IN "+texts(asked)+" ORDER BY at DESC, id DESC LIMIT 1 BY link")
	if err != nil {
		return nil, fmt.Errorf("states of %d links of app %s: %w", len(ids), appID, err)
	}
	for _, e := range newest {
		links[e.Link.ID] = e.Link
	}
	return links, nil
}

// Read implements eventstore.Engine.
func (s *Store) Read(ctx context.Context, appID string, after *eventstore.Place, limit int) ([]clicklog.Event, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("read events from ClickHouse: %w", err)
	}
	events := []clicklog.Event{}
	from := ">="
	for len(events) < limit {
		apps, err := all(ctx, s, queryTimeout, func(r driver.Rows) (id string, err error) { return id, r.Scan(&id) },
			"SELECT app FROM "+s.table+" WHERE app "+from+" "+text(appID)+" GROUP BY app ORDER BY app LIMIT 1")
		if err != nil {
			return nil, fmt.Errorf("apps after %s: %w", appID, err)
		}
		if len(apps) == 0 {
			break
		}
		conditions := "app = " + text(apps[0])
		if after != nil && apps[0] == appID {
			conditions += fmt.Sprintf(" AND (at > %d OR at = %[1]d AND id > %d)", after.At, after.ID)
		}
		more, err := all(ctx, s, appendTimeout, scanEvent, s.places(apps[0], conditions, "at, id", limit-len(events)))
		if err != nil {
			return nil, fmt.Errorf("read events of app %s: %w", apps[0], err)
		}
		events, appID, from, after = append(events, more...), apps[0], ">", nil
	}
	return events, nil
}
