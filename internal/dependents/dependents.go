// Package dependents finds what stands in the way of a removal: the list of a
// 409 (completions.md §1, error.dependencies).
package dependents

import (
	"context"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Query selects the ids of dependents of one type, as a client sees it. SQL has
// one placeholder, for the id of what is to be removed.
type Query struct{ Type, SQL string }

// Refuse returns the refusal to remove the resource with an id, or nil when
// nothing depends on it.
func Refuse(ctx context.Context, q store.Q, id string, queries ...Query) error {
	var all []fault.Dependency
	for _, d := range queries {
		// The query's own name for its rows keeps the text portable.
		n, err := store.One(ctx, q, store.Value[int], "SELECT COUNT(*) FROM ("+d.SQL+") AS dependents", id)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		first, err := store.All(ctx, q, store.Value[string], d.SQL+" ORDER BY id LIMIT 10", id)
		if err != nil {
			return err
		}
		all = append(all, fault.Dependency{Type: d.Type, Count: n, IDs: first})
	}
	if len(all) == 0 {
		return nil
	}
	refusal := fault.New(fault.ResourceConflict, "Other resources still depend on this one.")
	refusal.Dependencies = all
	return refusal
}
