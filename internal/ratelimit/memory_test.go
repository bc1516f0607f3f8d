package ratelimit

import (
	"strconv"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

// However many addresses call, the counters take bounded memory; those that are kept go on
// counting.
func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory()
	now := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	bucket := func(n int) Bucket {
		return Bucket{Name: "address", By: "address", Key: strconv.Itoa(n), Limit: 300, Window: time.Minute}
	}
	for n := range maxWindows + 1000 {
		if _, admitted, err := m.Take(t.Context(), now, []Bucket{bucket(n)}); err != nil || !admitted {
			t.Fatalf("address %d: %t, %v", n, admitted, err)
		}
		if want := min(n+1, maxWindows); len(m.windows) != want {
			t.Fatalf("after %d addresses there are %d windows", n+1, len(m.windows))
		}
	}
	last := bucket(maxWindows + 999)
	if s, _, _ := m.Take(t.Context(), now, []Bucket{last}); s[0].Used != 2 || len(m.windows) != maxWindows {
		t.Errorf("%+v, %d windows", s[0], len(m.windows))
	}
}
