package visitor

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

var someone = netip.MustParseAddr("192.0.2.1")

func renew(t *testing.T, s *Salts) {
	t.Helper()
	if err := s.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestSalts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		one, two := NewSalts(db, slog.Default()), NewSalts(db, slog.Default())
		renew(t, one)
		renew(t, two)
		agree := func(when string) int64 {
			t.Helper()
			a, b := one.Hash(c.Now(), someone, "agent"), two.Hash(c.Now(), someone, "agent")
			if a != b {
				t.Errorf("%s: two processes see two visitors", when)
			}
			return a
		}
		today := agree("today")
		c.Move(6 * time.Hour)
		if agree("later today") != today {
			t.Error("the visitor changed within the day")
		}
		// Midnight needs no database.
		c.Set(startOfDay(c.Now()).Add(day))
		tomorrow := agree("tomorrow")
		if tomorrow == today {
			t.Error("the visitor is the same on another day")
		}
		renew(t, one)
		renew(t, two)
		if agree("tomorrow, renewed") != tomorrow {
			t.Error("the visitor changed within the day")
		}
		c.Move(day)
		if err := retention.Begin(t.Context(), db, false); err != nil {
			t.Fatal(err)
		}
		renew(t, one)
		renew(t, two)
		rows, err := store.All(t.Context(), db, scanSalt, "SELECT starts_at, salt FROM visitor_salt ORDER BY starts_at")
		if err != nil || len(rows) != 3 || rows[0].startsAt != storetest.Start.Add(12*time.Hour) {
			t.Errorf("%d rows, %v: the first day's must be gone", len(rows), err)
		}
		if n := len(*one.held.Load()); n != 2 {
			t.Errorf("%d salts in memory", n)
		}
		// No salt goes while the clock may have jumped: those of today are needed again.
		kept := agree("before the jump")
		c.Move(10 * day)
		renew(t, one)
		c.Move(-10 * day)
		renew(t, one)
		renew(t, two)
		if agree("after the jump") != kept {
			t.Error("a jump of the clock made another visitor")
		}
		c.Move(10 * day)
		if err := retention.Begin(t.Context(), db, true); err != nil {
			t.Fatal(err)
		}
		renew(t, one)
		if n, err := store.One(t.Context(), db, store.Value[int64], "SELECT COUNT(*) FROM visitor_salt"); n != 2 || err != nil {
			t.Errorf("%d salts are left of days long past: %v", n, err)
		}
	})
}

// TestSaltsOfAnotherHistory has another salt of today in the older copy that takes the
// place of the database.
func TestSaltsOfAnotherHistory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		s := NewSalts(db, slog.Default())
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.Run(ctx) })
		defer running.Wait()
		defer cancel()
		storetest.Eventually(t, "the salts are there", func() bool { return len(*s.held.Load()) > 0 })
		if _, err := db.Exec(ctx, "DELETE FROM visitor_salt"); err != nil {
			t.Fatal(err)
		}
		other := NewSalts(db, slog.Default())
		renew(t, other)
		db.NewHistory()
		storetest.Eventually(t, "two processes see one visitor", func() bool {
			return s.Hash(c.Now(), someone, "agent") == other.Hash(c.Now(), someone, "agent")
		})
	})
}

func TestSaltsWithoutDatabase(t *testing.T) {
	db, c := openSQLite(t)
	s := NewSalts(db, slog.New(slog.DiscardHandler))
	first := s.Hash(c.Now(), someone, "agent")
	if s.Hash(c.Now(), someone, "agent") != first {
		t.Error("the visitor changed")
	}
	renew(t, s)
	if s.Hash(c.Now(), someone, "agent") == first {
		t.Error("the process keeps a salt of its own")
	}
	// Away for days: what is past is forgotten all the same.
	if _, err := db.Exec(t.Context(), "ALTER TABLE visitor_salt RENAME TO away"); err != nil {
		t.Fatal(err)
	}
	c.Move(5 * day)
	if s.renew(t.Context()) == nil {
		t.Error("no error")
	}
	if n := len(*s.held.Load()); n != 0 {
		t.Errorf("%d salts in memory", n)
	}
	s.Hash(c.Now(), someone, "agent")
}

func TestDamagedSaltIsNotShown(t *testing.T) {
	db, c := openSQLite(t)
	if _, err := db.Exec(t.Context(), "INSERT INTO visitor_salt (starts_at, salt) VALUES (?, 'secretx')",
		startOfDay(c.Now())); err != nil {
		t.Fatal(err)
	}
	if err := NewSalts(db, slog.Default()).renew(t.Context()); err == nil || strings.Contains(err.Error(), "secretx") {
		t.Errorf("got %v", err)
	}
}

func TestHash(t *testing.T) {
	db, c := openSQLite(t)
	s := NewSalts(db, slog.Default())
	seen := map[int64]string{}
	for _, address := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"} {
		for _, agent := range []string{"", "a", "b", strings.Repeat("x", maxAgent)} {
			v := s.Hash(c.Now(), netip.MustParseAddr(address), agent)
			if other, ok := seen[v]; ok {
				t.Errorf("%s %q is the same as %s", address, agent, other)
			}
			seen[v] = address + agent
		}
	}
	s.Hash(c.Now(), netip.Addr{}, "no address")
}

func BenchmarkHash(b *testing.B) {
	db, c := openSQLite(b)
	s := NewSalts(db, slog.New(slog.DiscardHandler))
	b.ReportAllocs()
	for b.Loop() {
		s.Hash(c.Now(), someone, visitortest.ChromeWindows)
	}
}

func openSQLite(t testing.TB) (*store.DB, *clock.Clock) {
	c := &clock.Clock{}
	c.Set(storetest.Start)
	return storetest.Open(t, storetest.Address(t, "sqlite"), c), c
}
