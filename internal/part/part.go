// Package part is the shape of a capability: what it brings into an installation
// besides its operations. Its Register declares the operations and returns the
// rest as a Part; package assembly is the list of all parts. What a part does is
// not held here.
package part

import (
	"context"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
)

// Part is what a capability brings.
type Part struct {
	// Name is that of the capability's package.
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
	// Name tells what is removed.
	Name string
	// Run removes at most limit rows of a kind and returns how many went; limit
	// means that there may be more.
	Run func(ctx context.Context, db *store.DB, limit int) (int64, error)
}

// OfApp is what a part keeps of each app, and what becomes of it when the app is
// deleted.
type OfApp struct {
	// Tables are those with a column app_id. Each such table of the database
	// belongs to exactly one part.
	Tables []string
	// Dependents keep the app from being deleted while there are any.
	Dependents []dependents.Query
	// Remove takes away what goes with the app, as part of the transaction that
	// deletes it; nil when nothing does. Rows that it leaves must end by a sweep.
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
