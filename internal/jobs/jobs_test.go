package jobs_test

import (
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Wake makes a job due that was put off, and leaves alone one that is under way
// and one that waits after a failure.
func TestWake(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		inTx := func(f func(tx *store.Tx) error) {
			t.Helper()
			if err := db.InTx(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		for payload, wakes := range map[string]bool{"later": true, "leased": false, "failed": false} {
			inTx(func(tx *store.Tx) error { return jobs.Enqueue(t.Context(), tx, payload, payload, "", actor.Grant{}) })
			claimed, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{payload})
			if err != nil || len(claimed) != 1 {
				t.Fatalf("%s: %v, %v", payload, claimed, err)
			}
			switch payload {
			case "later":
				if err := jobs.Hold(db, claimed[0], jobs.Lease).
					Later(t.Context(), db.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			case "failed":
				inTx(func(tx *store.Tx) error { return jobs.Retry(t.Context(), tx, claimed[0]) })
			}
			inTx(func(tx *store.Tx) error { return jobs.Wake(t.Context(), tx, payload, payload) })
			if again, err := jobs.Claim(t.Context(), db, jobs.Lease, 1, []string{payload}); err != nil ||
				(len(again) == 1) != wakes {
				t.Errorf("%s: %v, %v", payload, again, err)
			}
		}
	})
}
