package route

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func follow(t *testing.T, c *Cache) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Follow(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	storetest.Eventually(t, "to become ready", c.Ready)
}

// TestFollow publishes and looks at the cache of the same process, which is
// woken, and of another, which polls.
func TestFollow(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			address := storetest.Address(t, engine)
			writer := open(t, address)
			put(t, writer, "x", "https://e.com/before")
			if _, err := writer.Exec(t.Context(), "INSERT INTO installation (name, value) VALUES ('a', 'b')"); err != nil {
				t.Fatal(err) // the epoch is not alone there
			}
			woken, other := NewCache(writer, slog.Default()), NewCache(open(t, address), slog.Default())
			caches := map[string]*Cache{"woken": woken, "polling": other}
			for _, c := range caches {
				follow(t, c)
			}
			for i := range 10 {
				path := []string{"x", "y"}[i%2]
				for _, c := range caches {
					destination(t, c, path) // in memory, present or absent
				}
				want := fmt.Sprint("https://e.com/", i)
				if i >= 8 {
					want = ""
					publish(t, writer, func(p *Publisher) error {
						return p.Remove(t.Context(), "a.example", path,
							"id of "+path)
					})
				} else {
					put(t, writer, path, want)
				}
				for name, c := range caches {
					storetest.Eventually(t, fmt.Sprintf("%s: %s to %q", name, path, want),
						func() bool { return destination(t, c, path) == want })
				}
			}
		})
	}
}

// TestFollowOutage takes the changes away from under the follower.
func TestFollowOutage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		put(t, db, "x", "https://e.com/before")
		c := NewCache(db, slog.New(slog.DiscardHandler))
		f := follower{cache: c}
		step := func(wantErr bool) {
			t.Helper()
			if err := f.poll(t.Context()); (err != nil) != wantErr {
				t.Fatal(err)
			}
		}
		rename := func(from, to string) {
			t.Helper()
			if _, err := db.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("installation", "away")
		step(true)
		if c.Ready() {
			t.Error("ready before the database was there")
		}
		rename("away", "installation")
		step(false)
		destination(t, c, "x")
		put(t, db, "x", "https://e.com/after")

		rename("route_change", "away")
		step(true)
		rename("away", "route_change")
		// The change can be seen but not what it changed to: what is held
		// stays, and the change is not taken for done.
		rename("route", "away")
		step(true)
		if got := destination(t, c, "x"); got != "https://e.com/before" {
			t.Errorf("link to %q while the database was away", got)
		}
		rename("away", "route")
		step(false)
		if got := destination(t, c, "x"); got != "https://e.com/after" {
			t.Errorf("link to %q afterwards", got)
		}
	})
}

// What was read before a process follows the changes may be older than those that it begins with,
// and is forgotten.
func TestFollowBegins(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		c := NewCache(db, slog.New(slog.DiscardHandler))
		put(t, db, "x", "https://e.com/before")
		destination(t, c, "x")
		put(t, db, "x", "https://e.com/after")
		if err := (&follower{cache: c}).poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all, seen := changes(t, db), c.seen(); seen.seq != all[len(all)-1].seq {
			t.Errorf("the hostnames reflect %v, want the last of %v", seen, all)
		}
		if got := destination(t, c, "x"); got != "https://e.com/after" {
			t.Errorf("link to %q", got)
		}
	})
}

// A follower does not start afresh for changes of routes that it does not hold, and does not miss
// the first changes of an installation.
func TestFollowOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		r := followed(t, db)
		c := r.c
		if link, err := c.Link(t.Context(), "a.example", "x"); link != nil || err != nil {
			t.Fatal(link, err)
		}
		r.pollNow()
		if _, held := c.absent.GetEntryQuietly(key{"a.example", "x"}); !held {
			t.Error("the cache was cleared without a change")
		}
		put(t, db, "x", web)
		now.Move(ChangeRetention + time.Second)
		put(t, db, "y", web)
		if _, err := Sweep(t.Context(), db, 9); err != nil || len(changes(t, db)) != 1 {
			t.Fatal(err, changes(t, db))
		}
		r.pollNow()
		if got := destination(t, c, "x"); got != web {
			t.Errorf("link to %q", got)
		}
		for range 2 {
			put(t, db, "z", web)
			r.pollNow()
			if _, held := c.present.GetEntryQuietly(key{"a.example", "x"}); !held {
				t.Error("the cache was cleared")
			}
		}
	})
}

// TestFollowSwept lets changes go that the follower has not seen.
func TestFollowSwept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		put(t, db, "x", "https://e.com/before")
		r := followed(t, db)
		c := r.c
		epoch, err := db.Epoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		destination(t, c, "x")
		put(t, db, "x", "https://e.com/after")
		now.Move(time.Hour)
		put(t, db, "z", web)
		now.Move(ChangeRetention)
		if _, err := Sweep(t.Context(), db, 9); err != nil {
			t.Fatal(err)
		}
		r.pollNow()
		if got := destination(t, c, "x"); got != "https://e.com/after" {
			t.Errorf("link to %q", got)
		}
		if now, err := db.Epoch(t.Context()); err != nil || now != epoch {
			t.Errorf("a sweep was taken for another history: %v", err)
		}
		// A sweep of what was seen is no reason to start afresh.
		now.Move(time.Hour)
		put(t, db, "y", web)
		r.pollNow()
		now.Move(ChangeRetention)
		if _, err := Sweep(t.Context(), db, 9); err != nil {
			t.Fatal(err)
		}
		r.pollNow()
		if _, held := c.present.GetEntryQuietly(key{"a.example", "x"}); !held {
			t.Error("the cache was cleared")
		}
	})
}

// TestFollowManyChanges needs more than one read.
func TestFollowManyChanges(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	put(t, db, "first", web) // so that the hostname is known
	c := NewCache(db, slog.Default())
	f := follower{cache: c}
	if err := f.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := destination(t, c, "last"); got != "" {
		t.Fatalf("before its publication the link leads to %q", got)
	}
	publish(t, db, func(p *Publisher) error {
		for i := range 2001 {
			if err := putLink(t.Context(), p, "a.example", fmt.Sprint(i), "r", Link{}); err != nil {
				return err
			}
		}
		return putLink(t.Context(), p, "a.example", "last", "r", Link{DesktopURL: web})
	})
	if err := f.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := destination(t, c, "last"); got != web {
		t.Errorf("link to %q", got)
	}
}

// TestFollowUnderLoad changes a link again and again while many look it up,
// with memory so short that it is always being read: in the end all must see
// its last state.
func TestFollowUnderLoad(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		c := newCache(db, slog.Default(), 3000, 500)
		follow(t, c)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for r := range 4 {
			readers.Go(func() {
				for i := r; ; i++ {
					select {
					case <-stop:
						return
					default:
						destination(t, c, fmt.Sprint("x", i%5))
					}
				}
			})
		}
		for i := range 60 {
			put(t, db, fmt.Sprint("x", i%5), fmt.Sprint("https://e.com/", i))
		}
		for i := 55; i < 60; i++ {
			path, want := fmt.Sprint("x", i%5), fmt.Sprint("https://e.com/", i)
			storetest.Eventually(t, path+" to "+want, func() bool { return destination(t, c, path) == want })
		}
		close(stop)
		readers.Wait()
	})
}
