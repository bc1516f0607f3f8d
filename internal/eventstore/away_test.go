package eventstore_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// While the database is away, counts of events that are not stored stay in memory, and are saved again every five
// seconds and at the end.
func TestUnstoringWhileTheDatabaseIsAway(t *testing.T) {
	told := storetest.WhileAway(t, 12*time.Second, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		u := eventstore.NewUnstoring(db, log)
		u.Add("app", storetest.Start)
		u.Run(ctx)
	})
	const message = " the count of events that are not stored is not in the database for now"
	if want := []string{"5s" + message, "10s" + message, "12s" + message}; !slices.Equal(told, want) {
		t.Errorf("it tells %q, want %q", told, want)
	}
}
