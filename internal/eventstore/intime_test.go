package eventstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Queries that belong together have one deadline, whoever runs them.
func TestInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := eventstore.NewTurns(1)
		queries := func(each time.Duration, number int) (took time.Duration, err error) {
			begin := time.Now()
			err = eventstore.InTime(t.Context(), func(ctx context.Context) error {
				for range number {
					if err := turns.Do(ctx, "a", func(ctx context.Context, turn *eventstore.Turn) error {
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
		if took, err := queries(4*time.Second, 3); err != eventstore.ErrSlow || took != 10*time.Second {
			t.Errorf("three of 4 s: %v after %v", err, took)
		}
		want := errors.New("damaged")
		if err := eventstore.InTime(t.Context(), func(context.Context) error { return want }); err != want {
			t.Errorf("an error before the deadline: %v", err)
		}
		if err := eventstore.InTime(t.Context(), func(ctx context.Context) error {
			<-ctx.Done() // read of the main database
			return ctx.Err()
		}); err != eventstore.ErrSlow {
			t.Errorf("an error after the deadline: %v", err)
		}
	})
}
