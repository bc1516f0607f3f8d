package eventstore

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// Filter chooses events of one app: those of a period that meet every
// condition given. An empty text is no condition, and so is a nil Prefix, as
// a link may have the empty prefix.
//
// Events of crawlers are left out of everything, unless Device asks for "bot".
type Filter struct {
	AppID string
	// Start is inclusive, End exclusive.
	Start, End clock.Instant

	Group, LinkID, Hostname, CampaignID, FolderID, TagID string
	Prefix                                               *string
	Device, Source, Country, EventType                   string
}

// where returns the conditions on the event table. Those on the small tables
// are sets of numbers, found once.
func (f *Filter) where() *store.Where {
	w := &store.Where{}
	w.And("app_no = (SELECT no FROM event_app WHERE app_id = ?)", f.AppID)
	w.And("at >= ?", int64(f.Start)).And("at < ?", int64(f.End))
	if f.Country != "" {
		w.And("country = ?", f.Country)
	}
	if f.EventType != "" {
		// An unknown type has no place and meets no event.
		w.And("type = ?", int64(slices.Index(types, clicklog.EventType(f.EventType))))
	}
	client := &store.Where{}
	if f.Device != "" {
		client.And("device = ?", f.Device)
	} else {
		client.And("device <> 'bot'")
	}
	equal(client, "source", f.Source)
	w.And("client_no IN (SELECT no FROM event_client"+client.String()+")", client.Args()...)

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
		w.And("link_no IN (SELECT no FROM event_link"+link.String()+")", link.Args()...)
	}
	return w
}

func equal(w *store.Where, column, value string) {
	if value != "" {
		w.And(column+" = ?", value)
	}
}
