// Package part is the shape of a capability: what it brings into an
// installation besides its operations. The Register of a capability declares
// the operations and returns the rest as a Part; package assembly is the list
// of all parts. This package does not hold what a part does.
package part

import (
	"context"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
)

// Part is what a capability brings.
type Part struct {
	// Name is the name of the capability's package.
	Name string
	// Kinds are the kinds of jobs that its operations start.
	Kinds []jobs.Kind
	// Sweeps remove what is past its retention.
	Sweeps []Sweep
	// OfApp is what it keeps of each app.
	OfApp OfApp
}

// Sweep removes rows that are past their retention.
type Sweep struct {
	// Name says what is removed.
	Name string
	// Run removes at most limit rows of a kind and returns how many it removed;
	// limit means that there may be more.
	Run func(ctx context.Context, db *store.DB, limit int) (int64, error)
}

// OfApp is what a part keeps of each app, and what becomes of it when the app is
// deleted.
type OfApp struct {
	// Tables are the part's tables with a column app_id. Each such table of the
	// database belongs to exactly one part.
	Tables []string
	// Dependents keep the app from being deleted while there are any.
	Dependents []dependents.Query
	// Remove removes what is deleted together with the app, as part of the same
	// transaction; nil when there is nothing. A sweep must remove the rows that
	// it leaves.
	Remove func(ctx context.Context, tx *store.Tx, ownerID, appID string) error
}

// Executing returns an OfApp.Remove that executes statements with one
// placeholder each, for the app's id.
func Executing(statements ...string) func(ctx context.Context, tx *store.Tx, ownerID, appID string) error {
	return func(ctx context.Context, tx *store.Tx, _, appID string) error {
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement, appID); err != nil {
				return err
			}
		}
		return nil
	}
}
