package database

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// where returns the conditions on the event table but for those on its period. Those
// on the small tables are sets of numbers, found once.
func where(f *eventstore.Filter) *store.Where {
	w := &store.Where{}
	w.And("event.app_no = (SELECT no FROM event_app WHERE app_id = ?)", f.AppID)
	if f.Country != "" {
		w.And("event.country = ?", f.Country)
	}
	if f.EventType != "" {
		// An unknown type has no place and meets no event.
		w.And("event.type = ?", int64(slices.Index(eventstore.Types, clicklog.EventType(f.EventType))))
	}
	client := &store.Where{}
	if f.Device != "" {
		client.And("device = ?", f.Device)
	} else {
		client.And("device <> 'bot'")
	}
	equal(client, "source", f.Source)
	w.And("event.client_no IN (SELECT no FROM event_client"+client.String()+")", client.Args()...)

	link := &store.Where{}
	equal(link, "link_group", f.Group)
	equal(link, "link_id", f.LinkID)
	equal(link, "hostname", f.Hostname)
	equal(link, "campaign_id", f.CampaignID)
	equal(link, "folder_id", f.FolderID)
	if f.Prefix != nil {
		link.And("prefix = ?", *f.Prefix)
	}
	if f.TagID != "" {
		// Not LIKE: SQLite's ignores case, and the pattern would need escapes.
		link.And("replace(tag_ids, ?, '') <> tag_ids", ","+f.TagID+",")
	}
	if len(link.Args()) > 0 {
		link.And("app_no = (SELECT no FROM event_app WHERE app_id = ?)", f.AppID)
		w.And("event.link_no IN (SELECT no FROM event_link"+link.String()+")", link.Args()...)
	}
	return w
}

// within adds the condition on the period to w.
func within(w *store.Where, f *eventstore.Filter) {
	w.And("event.at >= ?", int64(f.Start)).And("event.at < ?", int64(f.End))
}

func equal(w *store.Where, column, value string) {
	if value != "" {
		w.And(column+" = ?", value)
	}
}
