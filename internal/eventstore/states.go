package eventstore

import (
	"context"
	"strings"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// NewestStates is Engine.Links for engines that number links: the newest state of a link
// is the one with the highest number. A link keeps its states when its events go.
func NewestStates(ctx context.Context, q store.Q, appID string, ids []string) (
	links map[string]clicklog.Link, err error) {
	defer fault.Wrap(&err, "states of %d links of app %s", len(ids), appID)
	links = map[string]clicklog.Link{}
	for some := range store.Chunks(ids) {
		args := make([]any, len(some), len(some)+1)
		for i, id := range some {
			args[i] = id
		}
		states, err := store.All(ctx, q, func(r store.Row) (l clicklog.Link, err error) {
			var tags string
			err = r.Scan(&l.ID, &l.Hostname, &l.Prefix, &l.Slug, &l.Group, &l.CampaignID, &l.FolderID, &tags)
			l.AppID, l.TagIDs = appID, TagList(tags)
			return l, err
		}, SelectStates(len(some)), append(args, appID)...)
		if err != nil {
			return nil, err
		}
		for _, l := range states {
			links[l.ID] = l
		}
	}
	return links, nil
}

// SelectStates is the query of the newest states of a number of links.
func SelectStates(links int) string {
	return `SELECT link_id, hostname, prefix, slug, link_group, campaign_id, folder_id, tag_ids FROM event_link
	WHERE no IN (SELECT max(no) FROM event_link WHERE link_id IN (` + store.Marks(links) + `)
		AND app_no = (SELECT no FROM event_app WHERE app_id = ?) GROUP BY link_id)`
}

// TagList returns the tags of event_link.tag_ids, which is ",id,id," or empty.
func TagList(tags string) []string {
	if tags == "" {
		return nil
	}
	return strings.Split(tags[1:len(tags)-1], ",")
}
