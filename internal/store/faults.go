package store

import "context"

type faultsKey struct{}

// WithFaults returns a context whose statements first ask fails, and end with its error
// unless that is nil. Tests use it to have a statement fail in the middle of the work.
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
