package route

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// publish runs f with the lock.
func publish(t testing.TB, db *store.DB, f func(p *Publisher) error) {
	t.Helper()
	err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		p, err := Lock(t.Context(), tx)
		if err != nil {
			return err
		}
		return f(p)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func putLink(ctx context.Context, p *Publisher, hostname, path, revision string, link Link) error {
	return p.PutLinks(ctx, []LinkRoute{{hostname, path, revision, link}})
}

// put publishes a link that leads to a destination.
func put(t testing.TB, db *store.DB, path, destination string) {
	t.Helper()
	publish(t, db, func(p *Publisher) error {
		return putLink(t.Context(), p, "a.example", path, "r",
			Link{LinkID: "id of " + path, AppID: "app", Slug: path, DesktopURL: destination})
	})
}

func changes(t testing.TB, db *store.DB) []change {
	t.Helper()
	all, err := store.All(t.Context(), db, func(r store.Row) (change, error) { return scanChange(r, new(int)) },
		"SELECT 1, seq, hostname, path, 0 FROM route_change ORDER BY seq")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDocuments(t *testing.T) {
	at, clicks := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC)), int64(7)
	full := Link{
		LinkID: "i", AppID: "a", Prefix: "p", Slug: "s", Group: "main", CampaignID: "c", FolderID: "f",
		TagIDs:   []string{"t", "u"},
		Archived: true, StartsAt: &at, ExpiresAt: &at, MaxClicks: &clicks, ExpiredURL: "e",
		DesktopURL: "d", PlayStoreURL: "y", AppStoreURL: "x", WebOnly: true, Behavior: "manual",
		Rules: []Rule{{ID: "7", Platform: IOS, Country: "DE", StartsAt: &at, ExpiresAt: &at, URL: "r",
			UTM: UTM{Term: "8"}}, {}},
		UTM: UTM{"1", "2", "3", "4", "5"}, CampaignUTM: UTM{Content: "6"}, Title: "t", Description: "é\"\n",
		ImageURL: "m", ImageWidth: 1, ImageHeight: 2,
	}
	for _, want := range []Link{full, {}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Link
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", text, err, got, want)
		}
	}
	// Fields that are not set take no room.
	if text, _ := json.Marshal(Link{}); string(text) != `{"id":"","app":"","slug":""}` {
		t.Errorf("empty link: %s", text)
	}
	if text, _ := json.Marshal(Host{}); string(text) != `{"id":"","app":""}` {
		t.Errorf("empty host: %s", text)
	}
}

func TestPublish(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ctx := t.Context()
		if _, err := db.Exec(ctx, "INSERT INTO sequence (name, value) VALUES ('other', 7)"); err != nil {
			t.Fatal(err)
		}
		publish(t, db, func(p *Publisher) error {
			for i := range 3 {
				if err := putLink(ctx, p, "a.example", "x", fmt.Sprint(i),
					Link{LinkID: fmt.Sprint("link", i)}); err != nil {
					return err
				}
			}
			return p.PutHost(ctx, "a.example", "h", Host{DomainID: "domain"})
		})
		if all := changes(t, db); len(all) != 4 || all[3].seq != all[0].seq+3 || all[3].key != (key{"a.example", ""}) {
			t.Errorf("changes %v", all)
		}
		row, err := store.One(ctx, db, func(r store.Row) (s [2]string, err error) { return s, r.Scan(&s[0], &s[1]) },
			"SELECT owner, revision FROM route WHERE hostname = 'a.example' AND path = 'x'")
		if err != nil || row != [2]string{"link2", "2"} {
			t.Errorf("row %v, %v", row, err)
		}
		// A removal of a former owner changes nothing, and tells nobody.
		publish(t, db, func(p *Publisher) error { return p.Remove(ctx, "a.example", "x", "link1") })
		if n := len(changes(t, db)); n != 4 {
			t.Errorf("%d changes after a late removal", n)
		}
		// The owner's other addresses stay.
		others := []key{{"a.example", "y"}, {"b.example", "x"}}
		publish(t, db, func(p *Publisher) error {
			for _, k := range others {
				if err := putLink(ctx, p, k.hostname, k.path, "r", Link{LinkID: "link2"}); err != nil {
					return err
				}
			}
			return p.Remove(ctx, "a.example", "x", "link2")
		})
		for _, k := range others {
			if there, err := store.Exists(ctx, db, "SELECT 1 FROM route WHERE hostname = ? AND path = ?", k.hostname,
				k.path); !there || err != nil {
				t.Errorf("%v is gone: %v", k, err)
			}
		}
		publish(t, db, func(p *Publisher) error { return p.Remove(ctx, "b.example", "x", "link2") })
		if there, err := store.Exists(ctx, db, "SELECT 1 FROM route WHERE path = 'x'"); there || err != nil {
			t.Errorf("the route is still there: %v", err)
		}
		if n := len(changes(t, db)); n != 8 {
			t.Errorf("%d changes", n)
		}
		if n, err := store.One(ctx, db, store.Value[int64], "SELECT value FROM sequence WHERE name = 'other'"); n != 7 {
			t.Errorf("another sequence is at %d, %v", n, err)
		}
		err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
			p, err := Lock(ctx, tx)
			if err != nil {
				return err
			}
			return putLink(ctx, p, "a.example", "", "r", Link{})
		})
		if err == nil {
			t.Error("a link took the hostname's own route")
		}
	})
}

func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		ctx := t.Context()
		for range 4 {
			put(t, db, "x", web)
			c.Move(time.Hour)
		}
		for _, step := range []struct {
			keptSince   clock.Instant
			limit, left int
		}{
			{storetest.Start.Add(time.Minute), 9, 3},
			{storetest.Start.Add(time.Minute), 9, 3},
			{storetest.Start.Add(9 * time.Hour), 9, 3}, // the newest tell where followers stand
			{storetest.Start.Add(3 * time.Hour), 1, 2},
			{storetest.Start.Add(3 * time.Hour), 9, 1},
		} {
			c.Set(step.keptSince.Add(ChangeRetention))
			before := len(changes(t, db))
			n, err := Sweep(ctx, db, step.limit)
			if err != nil {
				t.Fatal(err)
			}
			if left := len(changes(t, db)); left != step.left || n != int64(before-left) {
				t.Errorf("kept since %s, at most %d: %d removed and %d left, want %d left", step.keptSince, step.limit,
					n, left, step.left)
			}
		}
	})
}

// TestPublishersTakeTurns has several publish what they read after Lock: none
// may publish less than what it found.
func TestPublishersTakeTurns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		const publishers, rounds = 4, 10
		put(t, db, "n", "")
		var wg sync.WaitGroup
		for range publishers {
			wg.Go(func() {
				for range rounds {
					err := db.InTxReadCommitted(context.Background(), func(tx *store.Tx) error {
						ctx := context.Background()
						p, err := Lock(ctx, tx)
						if err != nil {
							return err
						}
						n, err := store.One(ctx, tx, store.Value[int64], "SELECT COUNT(*) FROM route_change")
						if err != nil {
							return err
						}
						return putLink(ctx, p, "a.example", "n", fmt.Sprint(n), Link{LinkID: "n"})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		all := changes(t, db)
		revision, err := store.One(t.Context(), db, store.Value[string], "SELECT revision FROM route WHERE path = 'n'")
		if err != nil || len(all) != publishers*rounds+1 || revision != fmt.Sprint(len(all)-1) {
			t.Errorf("%d changes, revision %s, %v", len(all), revision, err)
		}
	})
}

// The newest change tells when something was published last.
func TestNewest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		if at, err := Newest(t.Context(), db); at != 0 || err != nil {
			t.Errorf("before anything was published: %s, %v", at, err)
		}
		put(t, db, "a", web)
		c.Move(time.Minute)
		put(t, db, "b", web)
		at := c.Now()
		c.Move(time.Minute)
		if newest, err := Newest(t.Context(), db); newest != at || err != nil {
			t.Errorf("published last at %s, want %s, %v", newest, at, err)
		}
	})
}

// What cannot be written as JSON is not published, and neither is what was to be published with it.
func TestWhatCannotBePublished(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		p, err := Lock(t.Context(), tx)
		if err != nil {
			return err
		}
		return p.PutLinks(t.Context(), []LinkRoute{{"a.example", "whole", "r", Link{Slug: "whole"}},
			{"a.example", "x", "r", Link{Slug: "\xff"}}})
	})
	if found, lookErr := store.Exists(t.Context(), db, "SELECT 1 FROM route"); err == nil || lookErr != nil || found {
		t.Errorf("%v; something is published: %t, %v", err, found, lookErr)
	}
}
