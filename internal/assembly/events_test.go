package assembly_test

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A new installation has any engine, and one with an engine no other.
func TestChooseEngine(t *testing.T) {
	const address = "clickhouse://user:password@host/db"
	for _, test := range []struct {
		name             string
		recorded         string
		loaded           bool
		asked            string
		chosen, refusals string
	}{
		{"new", "", false, "", assembly.Segments, ""},
		{"new with another engine", "", false, "database", "database", ""},
		{"new with ClickHouse", "", false, address, address, ""},
		{"loaded before engines were recorded", "", true, "", "database", ""},
		{"loaded before, named", "", true, "database", "database", ""},
		{"loaded before, another", "", true, "segments", "", "in the engine database, not in segments"},
		{"recorded", "segments", false, "", "segments", ""},
		{"recorded, with what an earlier engine left", "segments", true, "", "segments", ""},
		{"recorded and named", "segments", false, "segments", "segments", ""},
		{"recorded, another", "segments", false, address, "", "waymark events copy"},
		{"ClickHouse", "clickhouse", false, address, address, ""},
		{"ClickHouse without address", "clickhouse", false, "", "", "--events clickhouse://"},
		{"no engine", "", false, "postgres://", "", "is none of segments, database"},
		{"kind without address", "", false, "clickhouse", "", "is none of segments, database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
				if test.loaded {
					e := clicklog.Event{ID: 1, At: 1, Type: clicklog.Click, Link: clicklog.Link{ID: "a", AppID: "a"}}
					if err := database.Open(db).Append(t.Context(), &clicklog.Batch{Events: []clicklog.Event{e}}); err != nil {
						t.Fatal(err)
					}
				}
				if test.recorded != "" {
					if _, err := db.InstallationValue(t.Context(), "events_engine", test.recorded); err != nil {
						t.Fatal(err)
					}
				}
				s := assembly.EngineSettings{Address: test.asked}
				err := s.Choose(t.Context(), db)
				if test.refusals == "" && (err != nil || s.Address != test.chosen) {
					t.Errorf("%q, %v; want %q", s.Address, err, test.chosen)
				}
				if test.refusals != "" && (err == nil || !strings.Contains(err.Error(), test.refusals)) {
					t.Errorf("%v; want %q", err, test.refusals)
				}
				if err != nil && strings.Contains(err.Error(), "password") {
					t.Errorf("%v has a password", err)
				}
				if now, err := assembly.Recorded(t.Context(), db); err != nil || test.recorded != "" && now != test.recorded ||
					test.recorded == "" && now != "" && !test.loaded {
					t.Errorf("choosing recorded %q, %v", now, err)
				}
			})
		})
	}
}
