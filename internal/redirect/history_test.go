package redirect

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// An older copy that takes the place of the database may have other keys.
func TestKeysOfAnotherHistory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		one, other := newRecoveries(db), newRecoveries(db)
		keysOf := func(s *recoveries) [2]any {
			t.Helper()
			k, err := s.keys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return [2]any{k.recovery, k.installs}
		}
		before := keysOf(one)
		if _, err := db.Exec(t.Context(), "DELETE FROM installation"); err != nil {
			t.Fatal(err)
		}
		if keysOf(one) != before {
			t.Error("the keys are read again without reason")
		}
		db.NewHistory()
		if keysOf(one) == before || keysOf(one) != keysOf(other) {
			t.Error("the keys are those of the lost history")
		}
	})
}
