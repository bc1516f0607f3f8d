package storetest

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// WhileAway runs something for a time with a database that answers nothing, and returns what it
// logs: the time since it began, and the message. The time is not waited for.
func WhileAway(t *testing.T, during time.Duration, run func(context.Context, *store.DB, *slog.Logger)) []string {
	t.Helper()
	db := Open(t, Address(t, "sqlite"), new(clock.Clock))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var told lines
	synctest.Test(t, func(t *testing.T) {
		told.began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), during)
		defer cancel()
		run(ctx, db, slog.New(slog.NewJSONHandler(&told, nil)))
	})
	return told.all
}

// lines is where a log is written.
type lines struct {
	began time.Time
	mu    sync.Mutex
	all   []string
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var record struct{ Msg string }
	if err := json.Unmarshal(line, &record); err != nil {
		return 0, err
	}
	l.all = append(l.all, time.Since(l.began).String()+" "+record.Msg)
	return len(line), nil
}
