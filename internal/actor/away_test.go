package actor

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// While the database is away, last uses stay in memory, and are stored again every second and at the end.
func TestUsesWhileTheDatabaseIsAway(t *testing.T) {
	told := storetest.WhileAway(t, 2500*time.Millisecond, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		a := NewAuthenticator(db, Staging)
		a.used["key:x"] = use{at: storetest.Start}
		a.Run(ctx, log)
		if len(a.used) != 1 {
			t.Errorf("%d uses are left", len(a.used))
		}
	})
	if want := []string{"1s authenticator", "2s authenticator", "2.5s authenticator"}; !slices.Equal(told, want) {
		t.Errorf("it tells %q, want %q", told, want)
	}
}
