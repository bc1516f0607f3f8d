package clickcount

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// While the database is away, the counter goes on with what it knows, and says so once.
func TestLooksWhileTheDatabaseIsAway(t *testing.T) {
	told := storetest.WhileAway(t, 2*time.Second, func(ctx context.Context, db *store.DB, log *slog.Logger) {
		c := New(db, func() bool { return false }, log)
		c.links["link"] = &tally{others: 7}
		c.Run(ctx)
		if n := c.links["link"].total(); n != 7 {
			t.Errorf("the link has %d clicks", n)
		}
	})
	if want := []string{"500ms clicks that other processes count are not known"}; !slices.Equal(told, want) {
		t.Errorf("the counter tells %q, want %q", told, want)
	}
}
