package store_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// The epoch is made once, and changed only by who knows the one it has.
func TestEpoch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		epoch := func() string {
			t.Helper()
			e, err := db.Epoch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		first := epoch()
		if first == "" || epoch() != first {
			t.Errorf("epoch %q, then %q", first, epoch())
		}
		second := ""
		for range 2 { // the second time somebody else was faster
			if err := db.NewEpoch(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			if second == "" {
				second = epoch()
			}
		}
		if second == first || epoch() != second {
			t.Errorf("epochs %q, %q, %q", first, second, epoch())
		}
	})
}

// Watch notices another epoch.
func TestWatch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { db.Watch(ctx, slog.New(slog.DiscardHandler)) })
		defer running.Wait()
		defer cancel()
		signalled := db.Listen(store.HistoryTopic)
		for range 2 {
			before := db.History()
			storetest.Eventually(t, "it is noticed", func() bool {
				// Again and again: Watch may not have seen the first one yet.
				if err := store.SetInstallationValue(ctx, db, store.EpochName, rand.Text()); err != nil {
					t.Error(err)
				}
				return db.History() > before
			})
			<-signalled
		}
	})
}
