package automation_test

import (
	"context"
	"testing"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A record that replaces the oldest one is there whole or not at all.
func TestRoomIsMadeWhole(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		create := func(ctx context.Context) error {
			return db.InTx(ctx, func(tx *store.Tx) error { // the room is for one record: the call has no larger scale
				_, err := automation.Create(ctx, &op.Call{AppID: "app"}, tx, automation.Batch, automation.Succeeded, "", 0)
				return err
			})
		}
		oldest := func() string {
			ids, err := store.All(t.Context(), db, store.Value[string], "SELECT id FROM automation_job")
			if err != nil || len(ids) != 1 {
				t.Fatalf("records %v, %v", ids, err)
			}
			return ids[0]
		}
		if err := create(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := oldest()
		storetest.Faulty(t, func(ctx context.Context) error {
			err := create(ctx)
			if replaced := oldest() != before; replaced != (err == nil) {
				t.Errorf("replaced: %t, %v", replaced, err)
			}
			return err
		})
	})
}

// What cannot be written as JSON is not stored, not even in part.
func TestItemsThatCannotBeStored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		const no = "\xff"
		result, failure := opt.NullOf(automation.ItemResult{LinkID: no}), opt.NullOf(automation.ItemError{Message: no})
		err := db.InTx(t.Context(), func(tx *store.Tx) error {
			for n, i := range []automation.Item{{Ordinal: 1, Result: result}, {Ordinal: 1, Error: failure}} {
				if err := automation.SaveItem(t.Context(), tx, "job", &i); err == nil {
					t.Errorf("item %d is stored", n)
				}
			}
			if err := automation.AddItems(t.Context(), tx, "job", []automation.Item{{Error: failure}}); err == nil {
				t.Error("a new one is stored")
			}
			return nil
		})
		if found, lookErr := store.Exists(t.Context(), db, "SELECT 1 FROM automation_item"); err != nil || lookErr != nil || found {
			t.Errorf("%v, %v; something is stored: %t", err, lookErr, found)
		}
	})
}
