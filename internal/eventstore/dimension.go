package eventstore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/store"
)

// The small tables of the star.
const (
	apps = iota
	links
	clients
	text
	dimensions
)

// maxKnown bounds the remembered numbers of each table; past it they are
// forgotten and found again.
const maxKnown = 100_000

// maxText is where longer text is cut, so that no header of a visitor fills
// the database or an index entry.
const maxText = 400

// statements of a small table. find takes what identifies a row; add takes the
// number, the same, and the other columns.
var statements = [dimensions]struct{ find, last, add string }{
	apps: {
		"SELECT no FROM event_app WHERE app_id = ?",
		"SELECT coalesce(max(no), 0) FROM event_app",
		"INSERT INTO event_app (no, app_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
	},
	links: {
		"SELECT no FROM event_link WHERE digest = ?",
		"SELECT coalesce(max(no), 0) FROM event_link",
		`INSERT INTO event_link (no, digest, app_no, link_id, hostname, prefix, slug, link_group, campaign_id,
			folder_id, tag_ids) ` +
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
	},
	clients: {
		"SELECT no FROM event_client WHERE device = ? AND os = ? AND browser = ? AND source = ?",
		"SELECT coalesce(max(no), 0) FROM event_client",
		"INSERT INTO event_client (no, device, os, browser, source) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
	},
	text: {
		"SELECT no FROM event_text WHERE value = ?",
		"SELECT coalesce(max(no), 0) FROM event_text",
		"INSERT INTO event_text (no, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
	},
}

// numbering turns values into numbers within one transaction. Numbers it had
// to read or give are remembered by the Store when that commits.
type numbering struct {
	s     *Store
	tx    *store.Tx
	fresh [dimensions]map[string]int64
	last  [dimensions]int64
	key   []byte
}

// remember makes the Store know the fresh numbers.
func (n *numbering) remember() {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	for i, fresh := range n.fresh {
		if len(n.s.known[i])+len(fresh) > maxKnown {
			clear(n.s.known[i])
		}
		maps.Copy(n.s.known[i], fresh)
	}
}

// have returns the number of the value with a key, if this transaction or the
// Store knows it.
func (n *numbering) have(dimension int, key []byte) (int64, bool) {
	if no, ok := n.fresh[dimension][string(key)]; ok {
		return no, true
	}
	n.s.mu.RLock()
	defer n.s.mu.RUnlock()
	no, ok := n.s.known[dimension][string(key)]
	return no, ok
}

// number finds or gives the number of the value with a key. The transaction is
// serializable, so that of two that give a number to the same value, or the
// same number, one is run again.
func (n *numbering) number(ctx context.Context, dimension int, key string, identity, rest []any) (int64, error) {
	no, err := store.One(ctx, n.tx, store.Value[int64], statements[dimension].find, identity...)
	if errors.Is(err, store.ErrNotFound) {
		no, err = n.give(ctx, dimension, append(identity, rest...))
	}
	if err != nil {
		return 0, err
	}
	if n.fresh[dimension] == nil {
		n.fresh[dimension] = map[string]int64{}
	}
	n.fresh[dimension][key] = no
	return no, nil
}

func (n *numbering) give(ctx context.Context, dimension int, columns []any) (int64, error) {
	if n.last[dimension] == 0 {
		last, err := store.One(ctx, n.tx, store.Value[int64], statements[dimension].last)
		if err != nil {
			return 0, err
		}
		n.last[dimension] = last
	}
	no := n.last[dimension] + 1
	added, err := n.tx.Exec(ctx, statements[dimension].add, append([]any{no}, columns...)...)
	if err != nil {
		return 0, err
	}
	if added != 1 {
		return 0, fmt.Errorf("number %d of table %d is taken", no, dimension)
	}
	n.last[dimension] = no
	return no, nil
}

func (n *numbering) app(ctx context.Context, id string) (int64, error) {
	id = clean(id)
	n.key = append(n.key[:0], id...)
	if no, ok := n.have(apps, n.key); ok {
		return no, nil
	}
	return n.number(ctx, apps, id, []any{id}, nil)
}

func (n *numbering) text(ctx context.Context, value string) (int64, error) {
	if value = clean(value); value == "" {
		return 0, nil
	}
	n.key = append(n.key[:0], value...)
	if no, ok := n.have(text, n.key); ok {
		return no, nil
	}
	return n.number(ctx, text, value, []any{value}, nil)
}

func (n *numbering) client(ctx context.Context, e *clicklog.Event) (int64, error) {
	device, os, browser, source := clean(e.Device), clean(e.OS), clean(e.Browser), clean(e.Source)
	n.key = join(n.key[:0], device, os, browser, source)
	if no, ok := n.have(clients, n.key); ok {
		return no, nil
	}
	return n.number(ctx, clients, string(n.key), []any{device, os, browser, source}, nil)
}

func (n *numbering) link(ctx context.Context, appNo int64, l *clicklog.Link) (int64, error) {
	n.key = join(n.key[:0], l.AppID, l.ID, l.Hostname, l.Prefix, l.Slug, l.Group, l.CampaignID, l.FolderID)
	n.key = join(n.key, l.TagIDs...)
	if no, ok := n.have(links, n.key); ok {
		return no, nil
	}
	sum := sha256.Sum256(n.key)
	digest := base64.RawURLEncoding.EncodeToString(sum[:16])
	tags := ""
	if len(l.TagIDs) > 0 {
		tags = "," + strings.Join(l.TagIDs, ",") + ","
	}
	return n.number(ctx, links, string(n.key), []any{digest}, []any{
		appNo, clean(l.ID), clean(l.Hostname), clean(l.Prefix), clean(l.Slug), clean(l.Group),
		clean(l.CampaignID), clean(l.FolderID), storable(tags),
	})
}

// join adds values to key so that different lists give different keys.
func join(key []byte, values ...string) []byte {
	for _, v := range values {
		key = append(key, v...)
		key = append(key, 0)
	}
	return key
}

// clean returns s as any engine can store it, and not longer than maxText: a
// row that the database refuses would stop the loader for good.
func clean(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return storable(s)
}

func storable(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
