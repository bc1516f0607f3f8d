package requestlog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func count(t *testing.T, db *store.DB) int {
	t.Helper()
	n, err := store.One(t.Context(), db, store.Value[int], "SELECT COUNT(*) FROM request_record")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func record(n int, at clock.Instant) Record {
	return Record{ID: fmt.Sprintf("req_%d", n), OwnerID: "o", Operation: "getMe", Method: "GET", Route: "/v1/me",
		Status: 200, ActorType: "human", ActorID: "o", CreatedAt: at}
}

func TestFlushAndSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		// Retention goes owner by owner.
		if _, err := db.Exec(t.Context(), `INSERT INTO users (id, issuer, subject, active, revision, theme,
			preferences_revision, created_at, updated_at)
			VALUES ('o', 'i', 's', TRUE, 'r', 'system', 'p', 0, 0)`); err != nil {
			t.Fatal(err)
		}
		l := New(db, slog.New(slog.DiscardHandler))
		for n := range maxPerWrite + 7 {
			l.Add(record(n, c.Now()))
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db); n != maxPerWrite+7 {
			t.Fatalf("%d records, want %d", n, maxPerWrite+7)
		}
		c.Move(Retention)
		if n, err := Sweep(t.Context(), db, 1000); n != 0 || err != nil {
			t.Errorf("swept %d young records, %v", n, err)
		}
		c.Move(1000)
		if n, err := Sweep(t.Context(), db, 256); n != 256 || err != nil {
			t.Errorf("swept %d, %v; want 256", n, err)
		}
		if n := count(t, db); n != 7 {
			t.Errorf("%d records left, want 7", n)
		}
	})
}

// While the database is away records wait, and beyond a bound are dropped with
// a word.
func TestBound(t *testing.T) {
	var log strings.Builder
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	l := New(db, slog.New(slog.NewTextHandler(&log, nil)))
	for n := range maxGathered + 3 {
		l.Add(record(n, 1))
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, db); n != maxGathered {
		t.Errorf("%d records, want %d", n, maxGathered)
	}
	if !strings.Contains(log.String(), "count=3") {
		t.Errorf("the log does not tell of 3 dropped records: %s", log.String())
	}
}

// The end of Run writes what is left.
func TestEnd(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	l := New(db, slog.New(slog.DiscardHandler))
	const left = maxPerWrite + 17
	for n := range left {
		l.Add(record(n, 1))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	l.Run(ended)
	if n := count(t, db); n != left {
		t.Errorf("%d records, want %d", n, left)
	}
}
