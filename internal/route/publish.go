package route

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

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
	// seq is the next change number that is ours to use, 0 when another must
	// be taken.
	seq int64
}

// Lock makes tx the only one that publishes until it ends. Call it first, in a
// transaction of InTxReadCommitted, and read what to publish after it: that is
// then the newest state.
func Lock(ctx context.Context, tx *store.Tx) (_ *Publisher, err error) {
	defer fault.Wrap(&err, "route.Lock")
	p := &Publisher{tx: tx}
	p.seq, err = p.take(ctx)
	return p, err
}

func (p *Publisher) take(ctx context.Context) (int64, error) {
	return store.One(ctx, p.tx, store.Value[int64], "UPDATE sequence SET value = value + 1 WHERE name = 'route_change' RETURNING value")
}

// PutLink publishes a revision of a link at its hostname and path.
func (p *Publisher) PutLink(ctx context.Context, hostname, path, revision string, link Link) (err error) {
	defer fault.Wrap(&err, "route.PutLink(%q, %q, %s)", hostname, path, revision)
	if path == "" {
		return fmt.Errorf("the path is empty, which stands for the hostname itself")
	}
	return p.put(ctx, hostname, path, link.LinkID, revision, &link)
}

// PutHost publishes a revision of a hostname's own settings. A hostname that
// has none answers nothing, whatever links are published on it.
func (p *Publisher) PutHost(ctx context.Context, hostname, revision string, host Host) (err error) {
	defer fault.Wrap(&err, "route.PutHost(%q, %s)", hostname, revision)
	return p.put(ctx, hostname, "", host.DomainID, revision, &host)
}

func (p *Publisher) put(ctx context.Context, hostname, path, owner, revision string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if _, err := p.tx.Exec(ctx, `INSERT INTO route (hostname, path, owner, revision, document) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (hostname, path) DO UPDATE SET owner = excluded.owner, revision = excluded.revision, document = excluded.document`,
		hostname, path, owner, revision, string(text)); err != nil {
		return err
	}
	return p.changed(ctx, hostname, path)
}

// Remove withdraws the route at an address if it still belongs to owner, a
// link's or a domain's id: by the time a removal is published, the address may
// have been given to another.
func (p *Publisher) Remove(ctx context.Context, hostname, path, owner string) (err error) {
	defer fault.Wrap(&err, "route.Remove(%q, %q, %q)", hostname, path, owner)
	n, err := p.tx.Exec(ctx, "DELETE FROM route WHERE hostname = ? AND path = ? AND owner = ?", hostname, path, owner)
	if err != nil || n == 0 {
		return err
	}
	return p.changed(ctx, hostname, path)
}

// changed tells the followers.
func (p *Publisher) changed(ctx context.Context, hostname, path string) (err error) {
	seq := p.seq
	if p.seq = 0; seq == 0 {
		if seq, err = p.take(ctx); err != nil {
			return err
		}
	}
	_, err = p.tx.Exec(ctx, "INSERT INTO route_change (seq, hostname, path, changed_at) VALUES (?, ?, ?, ?)", seq, hostname, path, p.tx.Now)
	p.tx.Signal(Topic)
	return err
}

// Sweep removes at most limit changes after ChangeRetention. It always leaves the
// newest ones: the least number that is left tells a follower whether it missed
// any.
func Sweep(ctx context.Context, db *store.DB, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "route.Sweep")
	return db.Exec(ctx, `DELETE FROM route_change WHERE seq IN (SELECT seq FROM route_change
		WHERE seq < (SELECT MIN(seq) FROM route_change WHERE changed_at >= ?) ORDER BY seq LIMIT ?)`, db.Now().Add(-ChangeRetention), limit)
}
