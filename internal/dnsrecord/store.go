package dnsrecord

import (
	"context"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

const selection = "SELECT r.id, r.value, r.priority, r.system, r.revision, r.created_at, r.updated_at, " + setColumns +
	" FROM dns_record r JOIN dns_record_set s ON s.id = r.set_id"

// scan reads a record of the domain.
func (d *managed) scan(row store.Row) (r Record, err error) {
	dest, decode := r.set.fields()
	if err = row.Scan(append([]any{&r.ID, &r.Value, &r.Priority, &r.System, &r.Revision, &r.CreatedAt, &r.UpdatedAt},
		dest...)...); err == nil {
		err = decode()
	}
	r.show(d)
	return r, err
}

// show completes a record by its set.
func (r *Record) show(d *managed) {
	r.DomainID, r.Type, r.Name, r.TTL = d.id, r.set.kind, relative(r.set.fqdn, d.hostname), r.set.ttl
	r.Status, r.Observed, r.LastError = r.set.status, r.set.observed.shown(), r.set.lastError
}

// load returns a record of a domain, or the refusal of a missing one.
func (d *managed) load(ctx context.Context, q store.Q, id string) (Record, error) {
	return op.Found(store.One(ctx, q, d.scan, selection+" WHERE r.id = ? AND r.domain_id = ?", id, d.id))
}

func (d *managed) list(ctx context.Context, q store.Q, w op.Window) ([]Record, error) {
	var where store.Where
	where.And("r.domain_id = ?", d.id)
	order := w.Keyset(&where, "r.created_at", "r.id", true)
	return store.All(ctx, q, d.scan, selection+where.String()+order, where.Args(w.Limit)...)
}

func (r *Record) insert(ctx context.Context, tx *store.Tx) error {
	r.ID, r.Revision, r.CreatedAt, r.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	_, err := tx.Exec(ctx, `INSERT INTO dns_record (id, domain_id, set_id, value, priority, system, revision,
		created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.set.domainID, r.set.id, r.Value, r.Priority,
		r.System, r.Revision, r.CreatedAt, r.UpdatedAt)
	return err
}

// save stores a changed record. Its TTL is that of its set, whose other records get a
// new revision when it changes, the same for all of them.
func (r *Record) save(ctx context.Context, tx *store.Tx, ttl int64) error {
	r.Revision, r.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, "UPDATE dns_record SET value = ?, priority = ?, revision = ?, updated_at = ? WHERE id = ?",
		r.Value, r.Priority, r.Revision, r.UpdatedAt, r.ID)
	if err == nil {
		err = r.set.setTTL(ctx, tx, ttl, r.ID)
	}
	return err
}

// setTTL changes the TTL of a set, and with it all its records but the one that is
// stored with it.
func (s *set) setTTL(ctx context.Context, tx *store.Tx, ttl int64, but string) error {
	if s.ttl == ttl {
		return nil
	}
	s.ttl = ttl
	_, err := tx.Exec(ctx, "UPDATE dns_record SET revision = ?, updated_at = ? WHERE set_id = ? AND id <> ?",
		ids.Revision(), tx.Now, s.id, but)
	return err
}
