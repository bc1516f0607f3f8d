package store

import "context"

type faultsKey struct{}

// WithFaults returns a context whose statements first ask fails, and end with its error
// unless that is nil; so does the first row of each query, which is asked for as "row of" the
// query. Tests use it to have a statement fail in the middle of the work.
func WithFaults(ctx context.Context, fails func(query string) error) context.Context {
	return context.WithValue(ctx, faultsKey{}, fails)
}

// fault returns the error that a test wants of a statement.
func fault(ctx context.Context, query string) error {
	fails, ok := ctx.Value(faultsKey{}).(func(string) error)
	if !ok {
		return nil
	}
	if err := fails(query); err != nil {
		return describe(query, err)
	}
	return nil
}

// withFaults has tests fail the first row, too.
func withFaults(ctx context.Context, query string, r Rows) Rows {
	if ctx.Value(faultsKey{}) == nil {
		return r
	}
	return &faultyRows{Rows: r, ctx: ctx, query: query}
}

type faultyRows struct {
	Rows
	ctx   context.Context
	query string
	asked bool
}

func (r *faultyRows) Scan(dest ...any) error {
	if !r.asked {
		r.asked = true
		if err := fault(r.ctx, "row of "+r.query); err != nil {
			return err
		}
	}
	return r.Rows.Scan(dest...)
}
