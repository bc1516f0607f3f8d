package scan

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// numberLink gives a state of a link its number.
func numberLink(t testing.TB, db *store.DB, l *clicklog.Link) (no int64) {
	t.Helper()
	err := db.InTx(context.Background(), func(tx *store.Tx) error {
		in, err := eventstore.NewNumbers().In(context.Background(), tx)
		var app int64
		if err == nil {
			app, err = in.App(context.Background(), l.AppID)
		}
		if err == nil {
			no, err = in.Link(context.Background(), app, l)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return no
}

func statesOf(t testing.TB, l *Links, app string) *States {
	t.Helper()
	s, err := l.Of(context.Background(), app)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		links := NewLinks(db)
		if s := statesOf(t, links, "a"); s.App != 0 || s.Link(1).ID != "" {
			t.Errorf("an unknown app has number %d and a link", s.App)
		}
		one := &clicklog.Link{ID: "one", AppID: "a", Hostname: "h", Prefix: "p", Slug: "s", Group: "main",
			CampaignID: "c", FolderID: "f", TagIDs: []string{"t1", "t2"}}
		first := numberLink(t, db, one)
		other := numberLink(t, db, &clicklog.Link{ID: "one", AppID: "b"})
		before := statesOf(t, links, "a")
		if got := before.Link(first); !reflect.DeepEqual(got, one) || before.App == 0 {
			t.Errorf("got %+v of app %d, want %+v", got, before.App, one)
		}
		if got := before.Link(other); got.ID != "" {
			t.Errorf("got a link of another app: %+v", got)
		}
		moved := *one
		moved.Hostname, moved.TagIDs = "h2", nil
		second := numberLink(t, db, &moved)
		after := statesOf(t, links, "a")
		if got := after.Link(second); !reflect.DeepEqual(got, &moved) || after.Link(first).Hostname != "h" {
			t.Errorf("got %+v, want %+v", got, moved)
		}
		if before.Link(second).ID != "" || len(before.links) != 2 || len(after.links) != 3 {
			t.Error("states have changed")
		}
		if statesOf(t, links, "a") != after {
			t.Error("states are made anew without a new link")
		}
	})
}

// An older copy of the database may give a number to another state.
func TestLinksOfOlderDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		links := NewLinks(db)
		for i := range 3 {
			numberLink(t, db, &clicklog.Link{ID: fmt.Sprint("old", i), AppID: "a"})
		}
		statesOf(t, links, "a")
		if _, err := db.Exec(context.Background(), "DELETE FROM event_link WHERE no > 1"); err != nil {
			t.Fatal(err)
		}
		if s := statesOf(t, links, "a"); s.Link(2).ID != "" || s.Link(3).ID != "" || s.Link(1).ID != "old0" {
			t.Errorf("states that are gone are still there: %+v", s.links)
		}
		for _, id := range []string{"new1", "new2"} {
			numberLink(t, db, &clicklog.Link{ID: id, AppID: "a"})
		}
		if s := statesOf(t, links, "a"); s.Link(2).ID != "new1" || s.Link(3).ID != "new2" {
			t.Errorf("got %+v", s.links)
		}
	})
}

// A database with another history may have the same state under the last number and
// others under the numbers before.
func TestLinksOfAnotherHistory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		links := NewLinks(db)
		for _, ids := range [][]string{{"one", "two", "three"}, {"two", "one", "three"}} {
			for _, id := range ids {
				numberLink(t, db, &clicklog.Link{ID: id, AppID: "a"})
			}
			if s := statesOf(t, links, "a"); s.Link(1).ID != ids[0] || s.Link(3).ID != "three" {
				t.Errorf("got %+v, want %v", s.links, ids)
			}
			if _, err := db.Exec(t.Context(), "DELETE FROM event_link"); err != nil {
				t.Fatal(err)
			}
			db.NewHistory()
		}
	})
}

// What is kept is bounded, and what was forgotten is read again.
func TestLinksAreBounded(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	links := NewLinks(db)
	links.limit = 25
	nos := map[string]int64{}
	for app := range 20 {
		for i := range 1 + app%10 {
			id := fmt.Sprint("app", app)
			nos[id] = numberLink(t, db, &clicklog.Link{ID: fmt.Sprint(i), AppID: id})
		}
	}
	for range 3 {
		for id, no := range nos {
			if statesOf(t, links, id).Link(no).AppID != id {
				t.Errorf("%s has lost its link", id)
			}
			kept := 0
			for e := links.recent.Front(); e != nil; e = e.Next() {
				kept += len(e.Value.(*appLinks).states.links)
			}
			if kept != links.states || kept > links.limit || len(links.apps) != links.recent.Len() {
				t.Fatalf("%d states of %d apps are kept, %d are counted", kept, len(links.apps), links.states)
			}
		}
	}
	links.limit = 1
	statesOf(t, links, "app9")
	if len(links.apps) != 1 || links.apps["app9"] == nil {
		t.Errorf("an app above the limit is kept with %d others", len(links.apps)-1)
	}
}

func TestLinksConcurrently(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	links := NewLinks(db)
	links.limit = 30
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 50 {
				app := fmt.Sprint("app", (worker+i)%3)
				no := numberLink(t, db, &clicklog.Link{ID: fmt.Sprint(worker, i), AppID: app})
				s := statesOf(t, links, app)
				if s.Link(no).ID != fmt.Sprint(worker, i) {
					t.Errorf("state %d is not there", no)
				}
				for n := range no {
					_ = s.Link(n)
				}
			}
		})
	}
	group.Wait()
}
