package segments

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// state is a row of event_link.
type state struct {
	no, app int64
	clicklog.Link
}

// Links implements eventstore.Engine. What links looked like is in the database; which
// of them have an event, the dictionaries of the segments tell.
func (e *Engine) Links(ctx context.Context, appID string, ids []string) (links map[string]clicklog.Link, err error) {
	defer fault.Wrap(&err, "segments.Links(app %s, %d ids)", appID, len(ids))
	states, err := e.states(ctx, appID, ids)
	links = map[string]clicklog.Link{}
	if err != nil || len(states) == 0 {
		return links, err
	}
	app, ofNo, newest := states[0].app, map[int64]string{}, map[string]clicklog.Link{}
	for _, s := range states {
		ofNo[s.no], newest[s.ID] = s.ID, s.Link
	}
	var mu sync.Mutex
	found := func(numbers []int64) (all bool) {
		mu.Lock()
		defer mu.Unlock()
		for _, no := range numbers {
			if id, ok := ofNo[no]; ok {
				links[id] = newest[id]
			}
		}
		return len(links) == len(newest)
	}
	err = e.ask(ctx, appID, math.MinInt64, math.MaxInt64, func(ctx context.Context, t *eventstore.Turn, v *view) error {
		groups := v.groups()
		slices.Reverse(groups) // the newest are the likeliest to have them
		return t.Each(ctx, len(groups), func(_, i int) error {
			g := groups[i].File.Group(groups[i].Index)
			if g.FirstApp > app || g.LastApp < app || found(nil) {
				return nil
			}
			var b segment.Block
			err := groups[i].File.Read(groups[i].Index, segment.Of(segment.Link), &b)
			if err == nil {
				found(b.Numbers(segment.Link))
			}
			return err
		})
	})
	return links, err
}

// states returns all states of links of an app, in the order in which they came.
func (e *Engine) states(ctx context.Context, appID string, ids []string) (all []state, err error) {
	for part := range store.Chunks(ids) {
		args := []any{appID}
		for _, id := range part {
			args = append(args, id)
		}
		some, err := store.All(ctx, e.DB, func(r store.Row) (s state, err error) {
			var tags string
			err = r.Scan(&s.no, &s.app, &s.ID, &s.Hostname, &s.Prefix, &s.Slug, &s.Group, &s.CampaignID, &s.FolderID,
				&tags)
			if tags != "" { // it is ",id,id,"
				s.TagIDs = strings.Split(tags[1:len(tags)-1], ",")
			}
			s.AppID = appID
			return s, err
		}, `SELECT no, app_no, link_id, hostname, prefix, slug, link_group, campaign_id, folder_id, tag_ids
			FROM event_link WHERE app_no = (SELECT no FROM event_app WHERE app_id = ?) AND link_id IN (`+store.Marks(len(part))+`)
			ORDER BY no`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
