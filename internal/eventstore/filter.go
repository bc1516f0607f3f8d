package eventstore

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
)

// Filter chooses events of one app: those of a period that meet every
// condition given. An empty text is no condition, and so is a nil Prefix, as
// a link may have the empty prefix.
//
// Events of crawlers are left out of everything, unless Device asks for "bot".
type Filter struct {
	// Account is whose turn the read takes (package turns); it chooses no events.
	Account string
	AppID   string
	// Start is inclusive, End exclusive.
	Start, End clock.Instant

	Group, LinkID, Hostname, CampaignID, FolderID, TagID string
	Prefix                                               *string
	Device, Source, Country, EventType                   string
}

// OfLinks reports whether f has a condition on the links of events.
func (f *Filter) OfLinks() bool {
	return f.Group != "" || f.LinkID != "" || f.Hostname != "" || f.CampaignID != "" || f.FolderID != "" ||
		f.TagID != "" || f.Prefix != nil
}

// Link reports whether a link, as it was when an event happened, meets f.
func (f *Filter) Link(l *clicklog.Link) bool {
	meets := func(condition, value string) bool { return condition == "" || condition == value }
	return meets(f.Group, l.Group) && meets(f.LinkID, l.ID) && meets(f.Hostname, l.Hostname) &&
		meets(f.CampaignID, l.CampaignID) && meets(f.FolderID, l.FolderID) &&
		(f.Prefix == nil || *f.Prefix == l.Prefix) && (f.TagID == "" || slices.Contains(l.TagIDs, f.TagID))
}
