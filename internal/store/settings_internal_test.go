package store

import "testing"

// Each setting of PostgreSQL is judged at its bound.
func TestPostgresTroubles(t *testing.T) {
	good := postgresSettings{version: 150000, name: "15.0", fsync: "on", fullPages: "on", synchronous: "on", connections: 34,
		reserved: 3, used: 26, encoding: "UTF8", isolation: "read committed", readOnly: "off"}
	if all := good.troubles(); len(all) > 0 {
		t.Errorf("a good server: %+v", all)
	}
	for name, test := range map[string]struct {
		spoil func(*postgresSettings)
		fatal bool
	}{
		"version":         {func(s *postgresSettings) { s.version = 149999 }, false},
		"fsync":           {func(s *postgresSettings) { s.fsync = "off" }, true},
		"full pages":      {func(s *postgresSettings) { s.fullPages = "off" }, true},
		"synchronous":     {func(s *postgresSettings) { s.synchronous = "off" }, false},
		"few connections": {func(s *postgresSettings) { s.connections = 33 }, true},
		"few free":        {func(s *postgresSettings) { s.used = 27 }, false},
		"encoding":        {func(s *postgresSettings) { s.encoding = "SQL_ASCII" }, true},
		"isolation":       {func(s *postgresSettings) { s.isolation = "serializable" }, false},
		"read-only":       {func(s *postgresSettings) { s.readOnly = "on" }, true},
		"standby":         {func(s *postgresSettings) { s.standby, s.readOnly = true, "on" }, true},
	} {
		bad := good
		test.spoil(&bad)
		if all := bad.troubles(); len(all) != 1 || all[0].Fatal != test.fatal || all[0].What == "" || all[0].Do == "" {
			t.Errorf("%s: %+v", name, all)
		}
	}
	worst := good
	worst.synchronous, worst.fsync = "off", "off"
	if all := worst.troubles(); len(all) != 2 || !all[0].Fatal {
		t.Errorf("what is fatal comes first: %+v", all)
	}
}

func TestSQLiteTroubles(t *testing.T) {
	for _, test := range []struct {
		settings sqliteSettings
		troubles int
		fatal    bool
	}{
		{sqliteSettings{"wal", 2, 1, 256 << 20}, 0, false},
		{sqliteSettings{"wal", 2, 1, 256<<20 + 1}, 1, false},
		{sqliteSettings{"delete", 2, 1, 0}, 1, true},
		{sqliteSettings{"wal", 1, 1, 0}, 1, true},
		{sqliteSettings{"wal", 3, 1, 0}, 0, false},
		{sqliteSettings{"wal", 2, 0, 0}, 1, true},
	} {
		if all := test.settings.troubles(); len(all) != test.troubles || len(all) > 0 && all[0].Fatal != test.fatal {
			t.Errorf("%+v: %+v", test.settings, all)
		}
	}
}
