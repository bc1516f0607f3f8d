package route

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/maypok86/otter/v2"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// pathsCapacity bounds the memory for paths of links by their id.
const pathsCapacity = 4 << 20

// paths holds the paths of links that apps asked for, by the id of the link. The path
// of a link never changes, so none is ever read again while it is held. Unknown ids
// are not held: those of a flood differ each time.
type paths = otter.Cache[string, string]

func newPaths() *paths {
	return otter.Must(&otter.Options[string, string]{
		MaximumWeight: pathsCapacity,
		Weigher:       func(id, path string) uint32 { return uint32(len(id)+len(path)) + 160 },
	})
}

// Links returns the links of a hostname that have the ids, in their order; nil stands
// for an id that no link of the hostname has. All ids that are not in memory are
// looked for together. The rest is as for Link.
func (c *Cache) Links(ctx context.Context, hostname string, ids []string) ([]*Link, error) {
	found := make(map[string]string, len(ids))
	var rest []string
	for _, id := range ids {
		if path, ok := c.paths.GetIfPresent(id); ok {
			found[id] = path
		} else if strings.HasPrefix(id, hostname+":") { // as all ids of its links do
			rest = append(rest, id)
		}
	}
	for some := range store.Chunks(rest) {
		if err := c.readPaths(ctx, hostname, some, found); err != nil {
			return nil, fmt.Errorf("route.Links(%q): %w", hostname, err)
		}
	}
	links := make([]*Link, len(ids))
	for i, id := range ids {
		path, ok := found[id]
		if !ok {
			continue
		}
		link, err := c.Link(ctx, hostname, path)
		if err != nil {
			return nil, err
		}
		if link != nil && link.LinkID == id {
			links[i] = link
		}
	}
	return links, nil
}

// readPaths gets the paths of ids from the database.
func (c *Cache) readPaths(ctx context.Context, hostname string, ids []string, found map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	if err := c.takeSlot(ctx); err != nil {
		return err
	}
	defer c.freeSlot()
	args := make([]any, 0, len(ids)+1)
	for _, id := range ids {
		args = append(args, id)
	}
	type row struct{ id, path string }
	rows, err := store.All(ctx, c.db, func(r store.Row) (v row, err error) {
		err = r.Scan(&v.id, &v.path)
		return v, err
	}, "SELECT owner, path FROM route WHERE owner IN ("+store.Marks(len(ids))+") AND hostname = ? AND path <> ''",
		append(args, hostname)...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		found[r.id] = r.path
		c.paths.Set(r.id, r.path)
	}
	return nil
}

// Open reports whether a link resolves at an instant, after a number of human clicks,
// as Decide does, which also wants a destination. Of a nil link, or one of another
// app, it reports false.
func (l *Link) Open(host *Host, clicks int64, now clock.Instant) bool {
	return l != nil && l.AppID == host.AppID && l.stage(clicks, now) == live
}

// AllUTM returns the campaign parameters of a link: its own, and where it has none the
// campaign's.
func (l *Link) AllUTM() UTM {
	own, campaign := &l.UTM, &l.CampaignUTM
	return UTM{
		Source: cmp.Or(own.Source, campaign.Source), Medium: cmp.Or(own.Medium, campaign.Medium),
		Campaign: cmp.Or(own.Campaign, campaign.Campaign), Term: cmp.Or(own.Term, campaign.Term),
		Content: cmp.Or(own.Content, campaign.Content),
	}
}
