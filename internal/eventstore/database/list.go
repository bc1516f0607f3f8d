package database

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// listed shows events with what their numbers stand for; %s chooses them.
const listed = `SELECT event.id, event.at, event.type, l.link_id, l.hostname, l.prefix, l.slug, l.link_group,
	l.campaign_id, l.folder_id,
	c.device, c.os, c.browser, event.country, c.source, COALESCE(r.value, ''), COALESCE(u.value, ''),
	event.destination, event.install <> 0
	FROM (SELECT * FROM event%s ORDER BY at DESC, id DESC LIMIT ?) AS event JOIN event_link l ON l.no = event.link_no
	JOIN event_client c ON c.no = event.client_no
	LEFT JOIN event_text r ON r.no = event.referrer_no LEFT JOIN event_text u ON u.no = event.rule_no
	ORDER BY event.at DESC, event.id DESC`

// List implements eventstore.Engine.
func (s *Store) List(ctx context.Context, f eventstore.Filter, before *eventstore.Place, limit int) (
	[]eventstore.Listed, error) {
	query, args := SelectList(f, before, limit)
	events, err := long(ctx, s, f.Account, func(r store.Row) (e eventstore.Listed, err error) {
		var kind, into int64
		err = r.Scan(&e.ID, &e.At, &kind, &e.Link.ID, &e.Link.Hostname, &e.Link.Prefix, &e.Link.Slug, &e.Link.Group,
			&e.Link.CampaignID, &e.Link.FolderID, &e.Device, &e.OS, &e.Browser, &e.Country, &e.Source, &e.ReferrerHost,
			&e.RuleID, &into, &e.Identified)
		e.Link.AppID, e.Type, e.Into = f.AppID, eventstore.Types[kind], eventstore.Destinations[into]
		return e, err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("events of app %s from %s to %s: %w", f.AppID, f.Start, f.End, err)
	}
	return events, nil
}

// SelectList returns the query of List.
func SelectList(f eventstore.Filter, before *eventstore.Place, limit int) (query string, args []any) {
	w := where(&f)
	w.And("event.at >= ?", int64(f.Start))
	if before != nil && before.At < f.End {
		w.And("(event.at, event.id) < (?, ?)", int64(before.At), before.ID)
	} else {
		w.And("event.at < ?", int64(f.End))
	}
	return fmt.Sprintf(listed, w), w.Args(limit)
}
