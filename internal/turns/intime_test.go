package turns_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/turns"
)

// Queries that belong together have one deadline, whoever runs them.
func TestInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := turns.New(1)
		queries := func(each time.Duration, number int) (took time.Duration, err error) {
			begin := time.Now()
			err = turns.InTime(t.Context(), func(ctx context.Context) error {
				for range number {
					if err := pool.Do(ctx, "a", func(ctx context.Context, turn *turns.Turn) error {
						select {
						case <-time.After(each):
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					}); err != nil {
						return err
					}
				}
				return nil
			})
			return time.Since(begin), err
		}
		if took, err := queries(3*time.Second, 3); err != nil || took != 9*time.Second {
			t.Errorf("three of 3 s: %v after %v", err, took)
		}
		if took, err := queries(4*time.Second, 3); err != turns.ErrSlow || took != 10*time.Second {
			t.Errorf("three of 4 s: %v after %v", err, took)
		}
		want := errors.New("damaged")
		if err := turns.InTime(t.Context(), func(context.Context) error { return want }); err != want {
			t.Errorf("an error before the deadline: %v", err)
		}
		if err := turns.InTime(t.Context(), func(ctx context.Context) error {
			<-ctx.Done() // read of the main database
			return ctx.Err()
		}); err != turns.ErrSlow {
			t.Errorf("an error after the deadline: %v", err)
		}
	})
}
