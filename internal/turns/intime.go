package turns

import "context"

// InTime bounds several queries that belong together by the deadline of one, 10 seconds
// from now, and returns the error of what it runs. At the deadline it returns ErrSlow, or
// ErrBusy if a query still waited for its turn.
func InTime(ctx context.Context, queries func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, ErrSlow)
	defer cancel()
	err := queries(ctx)
	if err != nil && err != ErrBusy && context.Cause(ctx) == ErrSlow {
		return ErrSlow
	}
	return err
}
