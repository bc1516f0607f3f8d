package eventstore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
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
		"INSERT INTO event_text (no, value, used_on) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
	},
}

// Numbers gives what repeats from event to event a number, once and for good. It
// remembers those that are committed, so that loading reads only the newest of them in
// the steady state. It is safe for concurrent use.
type Numbers struct {
	mu     sync.RWMutex
	known  [dimensions]map[string]int64
	newest [dimensions]given
	// history is the one of the database that they are of.
	history int64
}

// given is a row of a small table: its number and what identifies it.
type given struct {
	no       int64
	identity []any
}

// NewNumbers returns Numbers that remember nothing yet.
func NewNumbers() *Numbers {
	s := &Numbers{}
	for i := range s.known {
		s.known[i] = map[string]int64{}
	}
	return s
}

// In returns the numbering of one transaction. The transaction must be serializable.
// When an older copy has taken the place of the database, the numbers that it does not
// have are given again, and everything that is known is forgotten: when the database has
// another history, or, before this process has noticed that, when the newest known number
// of a table is another value's, or of none.
func (s *Numbers) In(ctx context.Context, tx *store.Tx) (*Numbering, error) {
	history := tx.History()
	s.mu.RLock()
	newest, same := s.newest, s.history == history
	s.mu.RUnlock()
	if !same {
		s.forget(history)
		newest = [dimensions]given{}
	}
	for dimension, row := range newest {
		if row.no == 0 {
			continue
		}
		no, err := store.One(ctx, tx, store.Value[int64], statements[dimension].find, row.identity...)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if no != row.no {
			s.forget(history)
			break
		}
	}
	n := &Numbering{s: s, tx: tx, history: history}
	tx.AfterCommit(n.remember)
	return n, nil
}

// forget makes s know nothing of a history yet.
func (s *Numbers) forget(history int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = history
	for i := range s.known {
		clear(s.known[i])
		s.newest[i] = given{}
	}
}

// Numbering turns values into numbers within one transaction. Numbers it had
// to read or give are remembered when that commits.
type Numbering struct {
	s       *Numbers
	tx      *store.Tx
	history int64
	fresh   [dimensions]map[string]int64
	newest  [dimensions]given
	last    [dimensions]int64
	key     []byte
}

// remember makes Numbers know the fresh ones, unless they are of a history that is over.
func (n *Numbering) remember() {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	if n.history != n.s.history {
		return
	}
	for i, fresh := range n.fresh {
		if n.newest[i].no > n.s.newest[i].no {
			n.s.newest[i] = n.newest[i]
		}
		if len(n.s.known[i])+len(fresh) > maxKnown {
			clear(n.s.known[i])
		}
		maps.Copy(n.s.known[i], fresh)
	}
}

// have returns the number of the value with a key, if this transaction or Numbers
// knows it.
func (n *Numbering) have(dimension int, key []byte) (int64, bool) {
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
func (n *Numbering) number(ctx context.Context, dimension int, key string, identity, rest []any) (int64, error) {
	no, err := store.One(ctx, n.tx, store.Value[int64], statements[dimension].find, identity...)
	if errors.Is(err, store.ErrNotFound) {
		no, err = n.give(ctx, dimension, slices.Concat(identity, rest))
	}
	if err != nil {
		return 0, err
	}
	if no > n.newest[dimension].no {
		n.newest[dimension] = given{no, identity}
	}
	if n.fresh[dimension] == nil {
		n.fresh[dimension] = map[string]int64{}
	}
	n.fresh[dimension][key] = no
	return no, nil
}

func (n *Numbering) give(ctx context.Context, dimension int, columns []any) (int64, error) {
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

// App returns the number of an app.
func (n *Numbering) App(ctx context.Context, id string) (int64, error) {
	id = Clean(id)
	n.key = append(n.key[:0], id...)
	if no, ok := n.have(apps, n.key); ok {
		return no, nil
	}
	return n.number(ctx, apps, id, []any{id}, nil)
}

// Client returns the number of what e says about the program.
func (n *Numbering) Client(ctx context.Context, e *clicklog.Event) (int64, error) {
	device, os, browser, source := Clean(e.Device), Clean(e.OS), Clean(e.Browser), Clean(e.Source)
	n.key = join(n.key[:0], device, os, browser, source)
	if no, ok := n.have(clients, n.key); ok {
		return no, nil
	}
	return n.number(ctx, clients, string(n.key), []any{device, os, browser, source}, nil)
}

// Link returns the number of a state of a link of the app with a number.
func (n *Numbering) Link(ctx context.Context, appNo int64, l *clicklog.Link) (int64, error) {
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
		appNo, Clean(l.ID), Clean(l.Hostname), Clean(l.Prefix), Clean(l.Slug), Clean(l.Group),
		Clean(l.CampaignID), Clean(l.FolderID), storable(tags),
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

// Clean returns s as any engine can store it, and not longer than maxText: a
// row that the database refuses would stop the loader for good.
func Clean(s string) string {
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
