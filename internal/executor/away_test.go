package executor_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// While the database is away, sweeps and jobs are looked for again after their waits.
func TestWhileTheDatabaseIsAway(t *testing.T) {
	swept := storetest.WhileAway(t, 61*time.Second, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		executor.RunSweeps(ctx, db, log, nil, false)
	})
	if want := []string{"0s sweep", "30s sweep", "1m0s sweep"}; !slices.Equal(swept, want) {
		t.Errorf("sweeps tell %q, want %q", swept, want)
	}
	worked := storetest.WhileAway(t, 1500*time.Millisecond, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		executor.New(executor.Options{DB: db, Log: log}).Run(ctx)
	})
	if want := []string{"0s executor", "1s executor"}; !slices.Equal(slices.Compact(worked), want) {
		t.Errorf("the executor tells %q, want %q", worked, want)
	}
}
