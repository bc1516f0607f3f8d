package database_test

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// explain returns the plan of a query on SQLite.
func explain(t *testing.T, db *store.DB, query string, args ...any) string {
	t.Helper()
	steps, err := store.All(t.Context(), db, func(r store.Row) (step string, err error) {
		var id, parent, unused int
		err = r.Scan(&id, &parent, &unused, &step)
		return step, err
	}, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// Whatever is counted, the period of the app is read once, in the order of its key, and
// what is beside it is found by its number.
func TestPlanOfCounts(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	for _, by := range enginetest.Dimensions {
		q := eventstore.Query{Grouping: eventstore.Grouping{By: by, Visitors: true, Links: true, Installs: true, Bounds: []clock.Instant{1, 2, 3, 4}}}
		q.AppID, q.Start, q.End, q.LinkID, q.Device = "a", 1, 4, "one", "ios"
		query, args, _ := database.SelectCounts(db.Dialect(), &q)
		plan := explain(t, db, query, args...)
		_, read, _ := strings.Cut(plan, "SEARCH event USING PRIMARY KEY (app_no=? AND at>? AND at<?)")
		beside := read == "" || strings.Contains(read, "SCAN event_link") || strings.Contains(read, "SCAN event_text") ||
			strings.Contains(read, "SCAN l") || strings.Contains(read, "SCAN c\n") || strings.Contains(read, "SCAN r\n")
		if beside || !strings.Contains(read, "SEARCH event_link USING COVERING INDEX event_link_id") {
			t.Errorf("the plan of %s is\n%s", by, plan)
		}
	}
}

// The states of links are found by their ids, and lists and copies go along the key.
func TestPlanOfReading(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	f := eventstore.Filter{AppID: "a", Start: 1, End: 4}
	list, args := database.SelectList(f, &eventstore.Place{At: 3, ID: 1}, 10)
	for _, c := range []struct {
		query string
		args  []any
		want  string
	}{
		{list, args, "SEARCH event USING PRIMARY KEY (app_no=? AND at>? AND (at,id)<(?,?))"},
		{database.SelectWhole, []any{1, 1, 1, 10}, "SEARCH event USING PRIMARY KEY (app_no=? AND (at,id)>(?,?))"},
		{eventstore.SelectStates(2), []any{"one", "two", "a"},
			"SEARCH event_link USING COVERING INDEX event_link_id (link_id=? AND app_no=?)"},
	} {
		plan := explain(t, db, c.query, c.args...)
		if !strings.Contains(plan, c.want) || strings.Contains(plan, "B-TREE") {
			t.Errorf("the plan of %s is\n%s", c.query, plan)
		}
	}
}

// Groups are in the order of bytes whatever the order of the database is.
func TestOrderOfBytes(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "postgres"), &clock.Clock{})
	for _, table := range []string{"event_link ALTER campaign_id", "event_app ALTER app_id"} {
		if _, err := db.Exec(t.Context(), "ALTER TABLE "+table+` TYPE TEXT COLLATE "und-x-icu"`); err != nil {
			t.Fatal(err)
		}
	}
	s, apps := database.Open(db), []string{"B", "a", "ä", "é", "😀"}
	var events []clicklog.Event
	for i, app := range apps {
		for j, campaign := range []string{"a", "B", "é", "z"} {
			events = append(events, clicklog.Event{ID: int64(4*i + j + 1), At: storetest.Start, Type: clicklog.Click,
				Link: clicklog.Link{ID: campaign, AppID: app, CampaignID: campaign}})
		}
	}
	if err := s.Append(t.Context(), enginetest.Batch(events...)); err != nil {
		t.Fatal(err)
	}
	q := eventstore.Query{Grouping: eventstore.Grouping{By: eventstore.ByCampaign}}
	q.AppID, q.Start, q.End = "B", storetest.Start, storetest.Start+1
	for _, want := range []string{"Baz é", "az é", "z é", " é"} {
		rows, err := eventstore.Count(t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, row := range rows {
			got += row.Value
		}
		if want = strings.ReplaceAll(want, " ", ""); got != want {
			t.Errorf("groups %s, want %s", got, want)
		}
		q.After = &eventstore.Rank{Clicks: 1, Value: rows[0].Value}
	}
	read, err := s.Read(t.Context(), "B", &eventstore.Place{At: storetest.Start + 1}, 100)
	if err != nil || len(read) != 16 || read[0].Link.AppID != "a" || read[15].Link.AppID != "😀" {
		t.Errorf("%d events after app B, %v; want the 16 of the 4 apps after it", len(read), err)
	}
}
