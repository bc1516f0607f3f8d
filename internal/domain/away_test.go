package domain_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// While the database is away, due checks are looked for every five seconds.
func TestChecksWhileTheDatabaseIsAway(t *testing.T) {
	told := storetest.WhileAway(t, 11*time.Second, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		domain.NewChecker(db, domain.Options{}, log).Run(ctx)
	})
	if want := []string{"0s check of domains", "5s check of domains", "10s check of domains"}; !slices.Equal(told, want) {
		t.Errorf("the checker tells %q, want %q", told, want)
	}
}
