// Package dependents finds what stands in the way of a removal: the list of a
// 409 (completions.md §1, error.dependencies).
package dependents

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Retention is how long the record of a deleted resource is kept, and stands in
// the way of removing the app (completions.md §11, Apps can be deleted).
const Retention = 30 * 24 * time.Hour

// Query selects the ids of dependents of one type, as a client sees it. SQL has
// one placeholder, for the id of what is to be removed.
type Query struct {
	Type, SQL string
	// Kept tells that the dependents are records of deleted resources. SQL then
	// also selects the instant of the deletion as at; of the records, only those
	// within Retention stand in the way.
	Kept bool
}

// Refuse returns the refusal to remove the resource with an id, or nil when
// nothing depends on it.
func Refuse(ctx context.Context, tx *store.Tx, id string, queries ...Query) (err error) {
	defer fault.Wrap(&err, "dependents.Refuse(%s)", id)
	var all []fault.Dependency
	for _, q := range queries {
		d, err := q.find(ctx, tx, id)
		if err != nil {
			return err
		}
		if d.Count > 0 {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	refusal := fault.New(fault.ResourceConflict, "Other resources depend on this one. Remove those in "+
		"error.dependencies first; those with availableAt are removed automatically at that time.")
	refusal.Dependencies = all
	return refusal
}

func (q Query) find(ctx context.Context, tx *store.Tx, id string) (fault.Dependency, error) {
	// The query's own name for its rows keeps the text portable.
	from, latest, args := " FROM ("+q.SQL+") AS dependents", "0", []any{id}
	if q.Kept {
		from, latest, args = from+" WHERE at > ?", "COALESCE(MAX(at), 0)", append(args, tx.Now.Add(-Retention))
	}
	var at clock.Instant
	d, err := store.One(ctx, tx, func(r store.Row) (d fault.Dependency, err error) {
		d.Type = q.Type
		err = r.Scan(&d.Count, &at)
		return d, err
	}, "SELECT COUNT(*), "+latest+from, args...)
	if err != nil || d.Count == 0 {
		return d, err
	}
	if q.Kept {
		d.AvailableAt = at.Add(Retention).String()
	}
	d.IDs, err = store.All(ctx, tx, store.Value[string], "SELECT id"+from+" ORDER BY id LIMIT 10", args...)
	return d, err
}
