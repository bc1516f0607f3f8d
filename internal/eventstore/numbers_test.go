package eventstore_test

import (
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// engines returns the engines that keep numbers in the main database.
func engines(t *testing.T, db *store.DB) map[string]eventstore.Engine {
	t.Helper()
	files, err := blob.Open("file", t.TempDir(), blob.Segments(0))
	if err != nil {
		t.Fatal(err)
	}
	s := segments.Open(segments.Options{DB: db, Files: files, Dir: t.TempDir(), Turns: turns.New(2),
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { s.Close() })
	return map[string]eventstore.Engine{"segments": s, "database": database.Open(db)}
}

// An older copy takes the place of the database below engines that run on: the numbers
// that it does not have are given again, and to the same value everywhere.
func TestNumbersOfAnOlderDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for name, e := range engines(t, db) {
			for _, tables := range [][]string{
				{"event_app", "event_link", "event_client", "event_text"}, {"event_link"}, {"event_client"}, {"event_text"},
			} {
				event := func(id int64, value string) clicklog.Event {
					return clicklog.Event{ID: id, At: storetest.Start, Type: clicklog.Click, OS: value, ReferrerHost: value,
						Link: clicklog.Link{ID: value, AppID: name}}
				}
				load := func(events ...clicklog.Event) {
					t.Helper()
					if err := e.Append(t.Context(), &clicklog.Batch{Events: events}); err != nil {
						t.Fatal(err)
					}
				}
				load(event(1, "first"), event(2, "first"), event(3, "second"))
				for _, table := range append(tables, "event", "event_segment") {
					if _, err := db.Exec(t.Context(), "DELETE FROM "+table); err != nil {
						t.Fatal(err)
					}
				}
				load(event(4, "second"), event(5, "second"), event(6, "third"))
				load(event(7, "first"))
				for _, by := range []eventstore.Dimension{eventstore.ByLink, eventstore.ByOS, eventstore.ByReferrer} {
					rows, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: eventstore.Filter{AppID: name,
						Start: storetest.Start, End: storetest.Start + 1}, Grouping: eventstore.Grouping{By: by}})
					if err != nil {
						t.Fatal(err)
					}
					var got string
					for _, row := range rows {
						got += fmt.Sprint(row.Value, " ", row.Clicks, ", ")
					}
					if want := "second 2, first 1, third 1, "; got != want {
						t.Errorf("%s without %v: %s by %s, want %s", name, tables, got, by, want)
					}
				}
				for _, table := range []string{"event", "event_segment"} {
					if _, err := db.Exec(t.Context(), "DELETE FROM "+table); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// A database with another history may have the newest number of each table for the same
// value, and others for other values.
func TestNumbersOfAnotherHistory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		before, after := engines(t, db), engines(t, db)
		for name, e := range before {
			id := int64(0)
			load := func(e eventstore.Engine, values ...string) {
				t.Helper()
				for _, value := range values {
					id++
					if err := e.Append(t.Context(), &clicklog.Batch{Events: []clicklog.Event{{ID: id, At: storetest.Start,
						Type: clicklog.Click, OS: value, ReferrerHost: value, Link: clicklog.Link{ID: value, AppID: name}}}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			clear := func() {
				t.Helper()
				for _, table := range []string{"event", "event_segment", "event_app", "event_link", "event_client",
					"event_text"} {
					if _, err := db.Exec(t.Context(), "DELETE FROM "+table); err != nil {
						t.Fatal(err)
					}
				}
			}
			load(e, "first", "second", "last")
			clear()
			load(after[name], "second", "first", "last")
			db.NewHistory()
			load(e, "first")
			for _, by := range []eventstore.Dimension{eventstore.ByLink, eventstore.ByOS, eventstore.ByReferrer} {
				rows, err := eventstore.Count(t.Context(), e, eventstore.Query{Filter: eventstore.Filter{AppID: name,
					Start: storetest.Start, End: storetest.Start + 1}, Grouping: eventstore.Grouping{By: by, Limit: 1}})
				if err != nil || len(rows) != 1 || rows[0].Value != "first" || rows[0].Clicks != 2 {
					t.Errorf("%s: %+v by %s, %v", name, rows, by, err)
				}
			}
			clear()
			db.NewHistory()
		}
	})
}

// A transaction that began before the database had another history makes nothing known.
func TestNumbersOfALateTransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		numbers := eventstore.NewNumbers()
		in := func(f func(tx *store.Tx, n *eventstore.Numbering)) {
			t.Helper()
			if err := db.InTx(t.Context(), func(tx *store.Tx) error {
				n, err := numbers.In(t.Context(), tx)
				f(tx, n)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		app := func(n *eventstore.Numbering, id string) int64 {
			t.Helper()
			no, err := n.App(t.Context(), id)
			if err != nil {
				t.Error(err)
			}
			return no
		}
		in(func(tx *store.Tx, n *eventstore.Numbering) {
			app(n, "x")
			app(n, "newest")
			db.NewHistory()
			if _, err := numbers.In(t.Context(), tx); err != nil { // as one that begins meanwhile
				t.Error(err)
			}
		})
		if _, err := db.Exec(t.Context(), "UPDATE event_app SET no = 9 WHERE app_id = 'x'"); err != nil {
			t.Fatal(err)
		}
		in(func(_ *store.Tx, n *eventstore.Numbering) {
			if no := app(n, "x"); no != 9 {
				t.Errorf("number %d", no)
			}
		})
	})
}

// At most 100,000 numbers of a table are remembered: with one more, only the newest are.
func TestNumbersAreForgotten(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	numbers := eventstore.NewNumbers()
	numbers.KnowApps(99_998)
	for _, want := range []int{99_999, 100_000, 1, 2} {
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			n, err := numbers.In(t.Context(), tx)
			if err == nil {
				_, err = n.App(t.Context(), fmt.Sprint("app", want))
			}
			return err
		}); err != nil || numbers.KnownApps() != want {
			t.Errorf("%d numbers are remembered, want %d; %v", numbers.KnownApps(), want, err)
		}
	}
}

// A number that another value has by now is given to no other one.
func TestNumberIsTaken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		err := db.InTx(t.Context(), func(tx *store.Tx) error {
			n, err := eventstore.NewNumbers().In(t.Context(), tx)
			if err == nil {
				_, err = n.App(t.Context(), "first")
			}
			if err == nil {
				_, err = tx.Exec(t.Context(), "INSERT INTO event_app (no, app_id) VALUES (2, 'another')")
			}
			if err == nil {
				_, err = n.App(t.Context(), "second")
			}
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "number 2 of table 0 is taken") {
			t.Errorf("%v", err)
		}
	})
}

// States of links that cannot be read are not states of none.
func TestStatesThatCannotBeRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		if _, err := db.Exec(t.Context(), "ALTER TABLE event_link RENAME TO away"); err != nil {
			t.Fatal(err)
		}
		if links, err := eventstore.NewestStates(t.Context(), db, "app", []string{"link"}); err == nil {
			t.Errorf("read %v", links)
		}
	})
}

// The digest of a state of a link stays the same through all versions: a state that is
// known is not numbered anew.
func TestDigestOfAState(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		for _, e := range engines(t, db) {
			if err := e.Append(t.Context(), &clicklog.Batch{Events: []clicklog.Event{{ID: 1, At: storetest.Start, Type: clicklog.Click,
				Link: clicklog.Link{AppID: "app", ID: "link", Hostname: "go.example.com", Prefix: "sale", Slug: "spring",
					Group: "marketing", CampaignID: "campaign", FolderID: "folder", TagIDs: []string{"a", "b"}}}}}); err != nil {
				t.Fatal(err)
			}
		}
		digest, err := store.One(t.Context(), db, store.Value[string], "SELECT digest FROM event_link")
		if want := "M1GhFGbqKERxQgg5gxjU1A"; err != nil || digest != want {
			t.Errorf("digest %s, %v; want %s", digest, err, want)
		}
	})
}

// What events have in common is looked up in the database once, a text once a day.
func TestNumbersAreRemembered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		e, id, looks := database.Open(db), int64(0), map[string]int{}
		ctx := store.WithFaults(t.Context(), func(query string) error {
			for _, table := range []string{"app", "link", "client", "text"} {
				if strings.HasPrefix(query, "SELECT no FROM event_"+table+" WHERE") || strings.HasPrefix(query, "UPDATE event_"+table) {
					looks[table]++
				}
			}
			return nil
		})
		for _, c := range []struct {
			later       time.Duration
			looks, text int
		}{{0, 1, 2}, {0, 2, 3}, {24 * time.Hour, 3, 6}} { // each transaction looks at the newest number that is remembered
			now.Move(c.later)
			b := &clicklog.Batch{}
			for range 3 {
				id++
				b.Events = append(b.Events, clicklog.Event{ID: id, At: now.Now(), Type: clicklog.Click, ReferrerHost: "example.com",
					OS: "iOS", Link: clicklog.Link{ID: "link", AppID: "app"}})
			}
			if err := e.Append(ctx, b); err != nil {
				t.Fatal(err)
			}
			if want := map[string]int{"app": c.looks, "link": c.looks, "client": c.looks, "text": c.text}; !maps.Equal(looks, want) {
				t.Errorf("%v looks after %d events, want %v", looks, id, want)
			}
		}
	})
}
