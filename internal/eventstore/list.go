package eventstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// Listed is an event as a list shows it: without visitor and install.
type Listed struct {
	ID                                 string
	At                                 clock.Instant
	Type                               clicklog.EventType
	Link                               clicklog.Link
	Device, OS, Browser, Country       string
	Source, ReferrerHost, RuleID, Into string
	Identified                         bool
}

// listed shows events with what their numbers stand for; %s chooses them.
const listed = `SELECT event.id, event.at, event.type, l.link_id, l.hostname, l.prefix, l.slug, l.link_group,
	l.campaign_id, l.folder_id,
	c.device, c.os, c.browser, event.country, c.source, COALESCE(r.value, ''), COALESCE(u.value, ''), event.destination,
	event.install <> 0
	FROM (SELECT * FROM event%s ORDER BY at DESC, id DESC LIMIT ?) AS event JOIN event_link l ON l.no = event.link_no
	JOIN event_client c ON c.no = event.client_no
	LEFT JOIN event_text r ON r.no = event.referrer_no LEFT JOIN event_text u ON u.no = event.rule_no
	ORDER BY event.at DESC, event.id DESC`

// List returns up to limit of the events that f chooses, newest first.
func (s *Store) List(ctx context.Context, f Filter, limit int) ([]Listed, error) {
	w := f.where()
	events, err := store.All(ctx, s.db, func(r store.Row) (e Listed, err error) {
		var id, kind, into int64
		err = r.Scan(&id, &e.At, &kind, &e.Link.ID, &e.Link.Hostname, &e.Link.Prefix, &e.Link.Slug, &e.Link.Group,
			&e.Link.CampaignID, &e.Link.FolderID,
			&e.Device, &e.OS, &e.Browser, &e.Country, &e.Source, &e.ReferrerHost, &e.RuleID, &into, &e.Identified)
		// Instant and id together name an event of an app.
		e.ID = strconv.FormatInt(int64(e.At), 36) + "-" + strconv.FormatInt(id, 36)
		e.Type, e.Into = types[kind], destinations[into]
		return e, err
	}, fmt.Sprintf(listed, w), w.Args(limit)...)
	if err != nil {
		return nil, fmt.Errorf("events of app %s from %s to %s: %w", f.AppID, f.Start, f.End, err)
	}
	return events, nil
}
