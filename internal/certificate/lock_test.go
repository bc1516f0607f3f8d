package certificate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestLock has two processes want one lock. One that died keeps it until its lease ends.
func TestLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ctx, one, other := t.Context(), newStorage(db), newStorage(db)
		try := func(s *storage, want bool) {
			t.Helper()
			if taken, err := s.TryLock(ctx, "x"); err != nil || taken != want {
				t.Fatalf("taken %t, %v", taken, err)
			}
		}
		unlock := func(s *storage) {
			t.Helper()
			if err := s.Unlock(ctx, "x"); err != nil {
				t.Fatal(err)
			}
		}
		try(one, true)
		try(one, false)
		try(other, false)
		if other.Unlock(ctx, "x") == nil {
			t.Error("a lock of another process is released")
		}
		short, cancel := context.WithCancel(ctx)
		cancel()
		if err := other.Lock(short, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("a wait ends with %v", err)
		}
		waited := make(chan error)
		go func() { waited <- other.Lock(ctx, "x") }()
		unlock(one)
		if err := <-waited; err != nil {
			t.Fatal(err)
		}

		c.Move(Lease - time.Millisecond)
		try(one, false)
		c.Move(time.Millisecond)
		try(one, true)
		unlock(other) // late: it must not end the turn of the first
		try(other, false)
		if err := TakeOver(ctx, db); err != nil {
			t.Fatal(err)
		}
		try(other, true)
		unlock(other)
	})
}

// TestLeaseIsRenewed keeps a lock for longer than its lease.
func TestLeaseIsRenewed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		s := newStorage(db)
		s.renewEvery = time.Millisecond
		if taken, err := s.TryLock(t.Context(), "x"); !taken || err != nil {
			t.Fatal(taken, err)
		}
		c.Move(Lease - 1)
		storetest.Eventually(t, "a longer lease", func() bool {
			until, err := store.One(t.Context(), db, store.Value[clock.Instant],
				"SELECT lease_until FROM certificate_lock")
			return err == nil && until == c.Now().Add(Lease)
		})
		if err := s.Unlock(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	})
}
