package route

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// ChangeRetention is how long changes are kept for followers that are behind.
const ChangeRetention = time.Hour

// Topic is signalled when a route changed.
const Topic = "route"

// Publisher writes routes inside the transaction that holds the lock.
type Publisher struct {
	tx *store.Tx
	// last is the last change number that was taken, and free how many up to it
	// are still to be used.
	last, free int64
}

// Lock makes tx the only one that publishes until it ends. Call it first, in a
// transaction of InTxReadCommitted, and read what to publish after it: that is
// then the newest state.
func Lock(ctx context.Context, tx *store.Tx) (_ *Publisher, err error) {
	defer fault.Wrap(&err, "route.Lock")
	p := &Publisher{tx: tx}
	return p, p.take(ctx, 1)
}

// take makes n change numbers free to use. What is taken in one transaction is
// in sequence: the first statement keeps all others out until it ends.
func (p *Publisher) take(ctx context.Context, n int64) (err error) {
	if n <= p.free {
		return nil
	}
	p.last, err = store.One(ctx, p.tx, store.Value[int64], `UPDATE sequence SET value = value + ?
		WHERE name = 'route_change' RETURNING value`, n-p.free)
	p.free = n
	return err
}

// LinkRoute is a revision of a link at its hostname and path.
type LinkRoute struct {
	Hostname, Path, Revision string
	Link                     Link
}

// PutLinks publishes links, which have different addresses.
func (p *Publisher) PutLinks(ctx context.Context, links []LinkRoute) (err error) {
	defer fault.Wrap(&err, "route.PutLinks(%d)", len(links))
	routes := make([]route, len(links))
	for i := range links {
		l := &links[i]
		if l.Path == "" {
			return fmt.Errorf("the path of link %s on %q is empty, which stands for the hostname itself", l.Link.LinkID,
				l.Hostname)
		}
		routes[i] = route{key{l.Hostname, l.Path}, l.Link.LinkID, l.Revision, &l.Link}
	}
	return p.put(ctx, routes)
}

// PutHost publishes a revision of a hostname's own settings. A hostname that
// has none answers nothing, whatever links are published on it.
func (p *Publisher) PutHost(ctx context.Context, hostname, revision string, host Host) (err error) {
	defer fault.Wrap(&err, "route.PutHost(%q, %s)", hostname, revision)
	return p.put(ctx, []route{{key{hostname, ""}, host.DomainID, revision, &host}})
}

// route is a row of the projection.
type route struct {
	key
	owner, revision string
	document        any
}

func (p *Publisher) put(ctx context.Context, routes []route) error {
	var keys []key
	for some := range store.Chunks(routes) {
		var args []any
		for _, r := range some {
			text, err := json.Marshal(r.document)
			if err != nil {
				return err
			}
			keys = append(keys, r.key)
			args = append(args, r.hostname, r.path, r.owner, r.revision, string(text))
		}
		if err := p.tx.Send(ctx, "INSERT INTO route (hostname, path, owner, revision, document) VALUES (?, ?, ?, ?, ?)"+
			strings.Repeat(", (?, ?, ?, ?, ?)", len(some)-1)+`
			ON CONFLICT (hostname, path) DO UPDATE SET owner = excluded.owner, revision = excluded.revision, document = excluded.document`, args...); err != nil {
			return err
		}
	}
	return p.changed(ctx, keys)
}

// Remove withdraws the route at an address if it still belongs to owner, the id
// of a link or a domain: by the time a removal is published, another link or
// domain may have the address.
func (p *Publisher) Remove(ctx context.Context, hostname, path, owner string) (err error) {
	defer fault.Wrap(&err, "route.Remove(%q, %q, %q)", hostname, path, owner)
	n, err := p.tx.Exec(ctx, "DELETE FROM route WHERE hostname = ? AND path = ? AND owner = ?", hostname, path, owner)
	if err != nil || n == 0 {
		return err
	}
	return p.changed(ctx, []key{{hostname, path}})
}

// changed tells the followers.
func (p *Publisher) changed(ctx context.Context, keys []key) error {
	if err := p.take(ctx, int64(len(keys))); err != nil {
		return err
	}
	for some := range store.Chunks(keys) {
		var args []any
		for _, k := range some {
			args = append(args, p.last-p.free+1, k.hostname, k.path, p.tx.Now)
			p.free--
		}
		if err := p.tx.Send(ctx, "INSERT INTO route_change (seq, hostname, path, changed_at) VALUES (?, ?, ?, ?)"+
			strings.Repeat(", (?, ?, ?, ?)", len(some)-1), args...); err != nil {
			return err
		}
	}
	p.tx.Signal(Topic)
	return nil
}

// Newest returns the instant of the newest publication, 0 before the first.
func Newest(ctx context.Context, q store.Q) (_ clock.Instant, err error) {
	defer fault.Wrap(&err, "route.Newest")
	return store.One(ctx, q, store.Value[clock.Instant], "SELECT COALESCE(MAX(changed_at), 0) FROM route_change")
}

// Sweep removes at most limit changes after ChangeRetention. It always leaves
// the newest ones: the smallest number left shows a follower whether it missed
// any.
func Sweep(ctx context.Context, db *store.DB, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "route.Sweep")
	return db.Exec(ctx, `DELETE FROM route_change WHERE seq IN (SELECT seq FROM route_change
		WHERE seq < (SELECT MIN(seq) FROM route_change WHERE changed_at >= ?) ORDER BY seq
		LIMIT ?)`, db.Now().Add(-ChangeRetention), limit)
}
