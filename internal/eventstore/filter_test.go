package eventstore_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// A link meets a filter that asks for what it has, and for nothing else.
func TestLinkMeetsFilter(t *testing.T) {
	link := clicklog.Link{ID: "id", AppID: "app", Hostname: "host", Prefix: "prefix", Slug: "slug", Group: "group",
		CampaignID: "campaign", FolderID: "folder", TagIDs: []string{"one", "two"}}
	prefix, other, none := "prefix", "other", ""
	for _, c := range []struct {
		name         string
		its, another eventstore.Filter
	}{
		{"group", eventstore.Filter{Group: "group"}, eventstore.Filter{Group: "other"}},
		{"link", eventstore.Filter{LinkID: "id"}, eventstore.Filter{LinkID: "other"}},
		{"hostname", eventstore.Filter{Hostname: "host"}, eventstore.Filter{Hostname: "other"}},
		{"campaign", eventstore.Filter{CampaignID: "campaign"}, eventstore.Filter{CampaignID: "other"}},
		{"folder", eventstore.Filter{FolderID: "folder"}, eventstore.Filter{FolderID: "other"}},
		{"first tag", eventstore.Filter{TagID: "one"}, eventstore.Filter{TagID: "other"}},
		{"second tag", eventstore.Filter{TagID: "two"}, eventstore.Filter{TagID: "one two"}},
		{"prefix", eventstore.Filter{Prefix: &prefix}, eventstore.Filter{Prefix: &other}},
		{"no prefix", eventstore.Filter{Prefix: &prefix}, eventstore.Filter{Prefix: &none}},
	} {
		if !c.its.OfLinks() || !c.another.OfLinks() {
			t.Errorf("%s: no condition on links", c.name)
		}
		if !c.its.Link(&link) || c.another.Link(&link) {
			t.Errorf("%s: the link's own: %t; another: %t", c.name, c.its.Link(&link), c.another.Link(&link))
		}
	}
	rest := eventstore.Filter{Account: "a", AppID: "other", Start: 1, End: 2, Device: "d", Source: "s", Country: "c",
		EventType: "t"}
	if rest.OfLinks() || !rest.Link(&link) {
		t.Error("what is not of links is a condition on them")
	}
	if root := (eventstore.Filter{Prefix: &none}); !root.Link(&clicklog.Link{}) || !root.OfLinks() {
		t.Error("a link without a prefix has the empty one")
	}
}
