package ratelimit

import (
	"strconv"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// However many addresses call, the counters take bounded memory; those that are kept go on
// counting.
func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory()
	now := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	bucket := func(n int) Bucket {
		return Bucket{Name: "address", By: "address", Key: strconv.Itoa(n), Limit: 300, Window: time.Minute}
	}
	for n := range 1<<18 + 1000 {
		if _, admitted, err := m.Take(t.Context(), now, []Bucket{bucket(n)}); err != nil || !admitted {
			t.Fatalf("address %d: %t, %v", n, admitted, err)
		}
		if want := min(n+1, 1<<18); len(m.windows) != want {
			t.Fatalf("after %d addresses there are %d windows", n+1, len(m.windows))
		}
	}
	last := bucket(1<<18 + 999)
	if s, _, _ := m.Take(t.Context(), now, []Bucket{last}); s[0].Used != 2 || len(m.windows) != 1<<18 {
		t.Errorf("%+v, %d windows", s[0], len(m.windows))
	}
}

// Counters in memory forget windows when they have ended, once a minute.
func TestMemoryForgets(t *testing.T) {
	m := NewMemory()
	minute := storetest.Start.Add(time.Minute)
	for _, c := range []struct {
		key     string
		at      time.Duration
		windows int
	}{
		{"a", 0, 1}, {"b", time.Minute - time.Microsecond, 2}, {"c", time.Minute, 1},
		{"d", 2*time.Minute - time.Microsecond, 2}, {"e", 2 * time.Minute, 1},
	} {
		bucket := Bucket{Name: "write", By: "app", Key: c.key, Limit: 1, Window: time.Minute}
		if bucket.start(minute) != minute {
			t.Fatal("the clock does not start with a minute")
		}
		if _, ok, err := m.Take(t.Context(), storetest.Start.Add(c.at), []Bucket{bucket}); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if n := len(m.windows); n != c.windows {
			t.Errorf("after %s there are %d windows, want %d", c.at, n, c.windows)
		}
	}
	if _, err := m.Add(t.Context(), storetest.Start.Add(3*time.Minute), Bucket{Key: "f", Limit: 1, Window: time.Minute}, 1); err != nil ||
		len(m.windows) != 1 {
		t.Errorf("%v; there are %d windows", err, len(m.windows))
	}
}

// A window that a lower limit finds overfull has nothing left, not less.
func TestRemaining(t *testing.T) {
	for used, want := range map[int64]int64{0: 2, 1: 1, 2: 0, 3: 0} {
		if got := (Standing{Bucket: Bucket{Limit: 2}, Used: used}).Remaining(); got != want {
			t.Errorf("of 2 calls, %d used, %d remain; want %d", used, got, want)
		}
	}
}
