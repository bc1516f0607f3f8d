package webhook_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// While the database is away, due deliveries are looked for every second.
func TestDeliveriesWhileTheDatabaseIsAway(t *testing.T) {
	told := storetest.WhileAway(t, 2500*time.Millisecond, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		webhook.New(db, nil, log, nil).Run(ctx)
	})
	if want := []string{"0s webhook dispatcher", "1s webhook dispatcher", "2s webhook dispatcher"}; !slices.Equal(told, want) {
		t.Errorf("the dispatcher tells %q, want %q", told, want)
	}
}
