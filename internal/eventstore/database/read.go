package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// SelectWhole is the query of an app's events after a place, with everything that their
// numbers stand for.
const SelectWhole = `SELECT event.id, event.at, event.type, event.visitor, event.install, l.link_id, l.hostname, l.prefix,
	l.slug, l.link_group, l.campaign_id, l.folder_id, l.tag_ids, c.device, c.os, c.browser, c.source, event.country,
	COALESCE(r.value, ''), COALESCE(u.value, ''), event.destination
	FROM (SELECT * FROM event WHERE app_no = ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?) AS event
	JOIN event_link l ON l.no = event.link_no JOIN event_client c ON c.no = event.client_no
	LEFT JOIN event_text r ON r.no = event.referrer_no LEFT JOIN event_text u ON u.no = event.rule_no
	ORDER BY event.at, event.id`

// numbered is an app with its number.
type numbered struct {
	no int64
	id string
}

func scanApp(r store.Row) (a numbered, err error) { return a, r.Scan(&a.no, &a.id) }

// Read implements eventstore.Engine.
func (s *Store) Read(ctx context.Context, appID string, after *eventstore.Place, limit int) ([]clicklog.Event, error) {
	events := []clicklog.Event{}
	from := " >= ?"
	if after == nil {
		after = &eventstore.Place{At: -1 << 63}
	}
	for len(events) < limit {
		app, err := store.One(ctx, s.db, scanApp, "SELECT no, app_id FROM event_app WHERE app_id"+s.db.Dialect().Bytewise+
			from+" ORDER BY app_id"+s.db.Dialect().Bytewise+" LIMIT 1", appID)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read events after app %s: %w", appID, err)
		}
		if app.id != appID {
			after = &eventstore.Place{At: -1 << 63}
		}
		more, err := store.All(ctx, s.db.Long(), func(r store.Row) (clicklog.Event, error) { return scanWhole(r, app.id) }, SelectWhole,
			app.no, int64(after.At), after.ID, limit-len(events))
		if err != nil {
			return nil, fmt.Errorf("read events of app %s: %w", app.id, err)
		}
		events, appID, from = append(events, more...), app.id, " > ?"
	}
	return events, nil
}

func scanWhole(r store.Row, app string) (e clicklog.Event, err error) {
	var kind, into int64
	var tags string
	err = r.Scan(&e.ID, &e.At, &kind, &e.Visitor, &e.Install, &e.Link.ID, &e.Link.Hostname, &e.Link.Prefix,
		&e.Link.Slug, &e.Link.Group, &e.Link.CampaignID, &e.Link.FolderID, &tags, &e.Device, &e.OS, &e.Browser,
		&e.Source, &e.Country, &e.ReferrerHost, &e.RuleID, &into)
	e.Link.AppID, e.Link.TagIDs = app, eventstore.TagList(tags)
	e.Type, e.Destination = eventstore.Types[kind], eventstore.Destinations[into]
	return e, err
}

// Links implements eventstore.Engine.
func (s *Store) Links(ctx context.Context, appID string, ids []string) (map[string]clicklog.Link, error) {
	return eventstore.NewestStates(ctx, s.db.Long(), appID, ids)
}

// Run implements eventstore.Engine: there is nothing to do.
func (s *Store) Run(context.Context) {}

var _ eventstore.Engine = (*Store)(nil)
