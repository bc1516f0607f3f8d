package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// reach opens a database, closed when the test ends.
func reach(t *testing.T, address string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), address, &clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// column is one of a SQLite table.
type column struct {
	table, name, kind string
	optional          bool
}

func columnsOf(t *testing.T, db *store.DB) []column {
	t.Helper()
	all, err := store.All(t.Context(), db, func(r store.Row) (c column, err error) {
		return c, r.Scan(&c.table, &c.name, &c.kind, &c.optional)
	}, `SELECT t.name, c.name, c.type, c."notnull" = 0 AND c.pk = 0 FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name <> 'goose_db_version' ORDER BY t.name, c.cid`)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// strange are texts that a copy may spoil. Each is the text of a row in all tables, so that
// references lead to rows.
var strange = []string{"plain", "", "tab\tline\nreturn\r\\N \\. \"quoted\" 'x'", "Ü😀\u2028 é", " 1 "}

// valueOf returns the value of a column in a row.
func valueOf(c column, row int) any {
	if c.optional && row == 1 {
		return nil
	}
	switch c.kind {
	case "TEXT":
		return strange[row]
	case "BOOLEAN":
		return row%2 == 0
	case "BYTEA":
		return []byte{0, 0xff, '\\', byte(row)}
	case "SMALLINT":
		return -row
	case "INTEGER":
		return 2_000_000_000 + row
	}
	return int64(-9_000_000_000_000_000_000) + int64(row)
}

// fillAll makes rows in every table.
func fillAll(t *testing.T, db *store.DB) (tables []string) {
	t.Helper()
	names, values := map[string][]string{}, map[string][][]any{}
	for _, c := range columnsOf(t, db) {
		if names[c.table] == nil {
			tables, values[c.table] = append(tables, c.table), make([][]any, len(strange))
		}
		names[c.table] = append(names[c.table], `"`+c.name+`"`)
		for row := range strange {
			values[c.table][row] = append(values[c.table][row], valueOf(c, row))
		}
	}
	if err := db.InTx(t.Context(), func(tx *store.Tx) error {
		err := tx.Send(t.Context(), "PRAGMA defer_foreign_keys = 1")
		for table, rows := range values {
			for _, row := range rows {
				_, insertErr := tx.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table,
					strings.Join(names[table], ", "), store.Marks(len(row))), row...)
				err = errors.Join(err, insertErr)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return tables
}

// rowsOf returns all rows of a table as text, in an order of their own.
func rowsOf(t *testing.T, db *store.DB, columns []column, table string) []string {
	t.Helper()
	var names []string
	for _, c := range columns {
		switch {
		case c.table != table:
		case c.kind == "BOOLEAN": // which is a number in SQLite
			names = append(names, `CASE WHEN "`+c.name+`" THEN 1 ELSE 0 END`)
		default:
			names = append(names, `"`+c.name+`"`)
		}
	}
	rows, err := store.All(t.Context(), db, func(r store.Row) (string, error) {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		err := r.Scan(into...)
		return fmt.Sprintf("%#v", values), err
	}, "SELECT "+strings.Join(names, ", ")+" FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}

// Every row of every table is in PostgreSQL as it was in SQLite.
func TestMove(t *testing.T) {
	from := reach(t, storetest.Address(t, "sqlite"))
	tables, columns := fillAll(t, from), columnsOf(t, from)
	if err := store.SetInstallationValue(t.Context(), from, store.EpochName, "one"); err != nil {
		t.Fatal(err)
	}
	to := reach(t, storetest.Empty(t, "postgres"))
	moved, err := to.Move(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	all := int64(0)
	for _, table := range tables {
		was, is := rowsOf(t, from, columns, table), rowsOf(t, to, columns, table)
		if len(was) < len(strange) || !slices.Equal(was, is) {
			t.Errorf("%s has %s, had %s", table, is, was)
		}
		all += int64(len(was))
	}
	if len(tables) < 50 || moved.Tables != int64(len(tables)) || moved.Rows != all {
		t.Errorf("moved %+v; there are %d tables with %d rows", moved, len(tables), all)
	}
	if err := errors.Join(to.CheckSchema(t.Context()), to.CheckRestored(t.Context())); err != nil {
		t.Error(err)
	}
	// Where nobody learned that all has arrived, the same command finds it there.
	if again, err := to.Move(t.Context(), from); err != nil || again != moved {
		t.Errorf("moved again: %+v, %v", again, err)
	}
	for what, change := range map[string]string{
		"another row":          "UPDATE folder SET name = name || ' ' WHERE name = 'plain'",
		"another installation": "UPDATE installation SET value = 'other' WHERE name = '" + store.EpochName + "'",
	} {
		if _, err := from.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Move(t.Context(), from); err == nil || !strings.Contains(err.Error(), "has an installation already") {
			t.Errorf("moved over an installation, with %s: %v", what, err)
		}
	}
	if there := rowsOf(t, to, columns, "folder"); len(there) != len(strange) {
		t.Errorf("refused moves have left %d rows of %d", len(there), len(strange))
	}
}

// A row that is not the same in PostgreSQL ends the move, and nothing of it is there.
func TestMoveThatIsNotTheSame(t *testing.T) {
	from := reach(t, storetest.Address(t, "sqlite"))
	fillAll(t, from)
	for name, effect := range map[string]string{"changed": "NEW.name := NEW.name || ' '; RETURN NEW;", "dropped": "RETURN NULL;",
		"without a value": "NEW.title := 'given'; RETURN NEW;"} {
		t.Run(name, func(t *testing.T) {
			address, table := storetest.Address(t, "postgres"), "folder"
			if strings.Contains(effect, "title") {
				table = "link"
			}
			to := reach(t, address)
			for _, statement := range []string{"CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN " +
				strings.ReplaceAll(effect, "'", "''") + " END'",
				"CREATE TRIGGER spoil BEFORE INSERT ON " + table + " FOR EACH ROW EXECUTE FUNCTION spoil()"} {
				if _, err := to.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := to.Move(t.Context(), from); err == nil || !strings.Contains(err.Error(),
				"move table "+table+": PostgreSQL has other rows than SQLite") {
				t.Fatalf("moved: %v", err)
			}
			if there, err := store.Exists(t.Context(), to, "SELECT 1 FROM users"); there || err != nil {
				t.Errorf("there are rows: %v, %v", there, err)
			}
			const again = "the move of this database did not end: run waymark move again"
			if err := to.CheckRestored(t.Context()); err == nil || err.Error() != again {
				t.Errorf("the database says %v", err)
			}
			if _, err := to.Migrate(t.Context()); err == nil || err.Error() != again {
				t.Errorf("migrated: %v", err)
			}
			if _, err := to.Exec(t.Context(), "DROP TRIGGER spoil ON "+table); err != nil {
				t.Fatal(err)
			}
			if _, err := to.Move(t.Context(), from); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

// Others cannot write to what is moved, which would be lost, and an older schema is not moved.
func TestMoveRefuses(t *testing.T) {
	address := storetest.Address(t, "sqlite")
	from, to := reach(t, address), reach(t, storetest.Empty(t, "postgres"))
	if _, err := from.Move(t.Context(), from); err == nil {
		t.Error("moved to SQLite")
	}
	if _, err := from.Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id = ?", store.NewestSchema); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Move(t.Context(), from); err == nil || !strings.Contains(err.Error(), "run waymark migrate") {
		t.Errorf("moved an older schema: %v", err)
	}
	if schema, err := to.Schema(t.Context()); schema != 0 || err != nil {
		t.Errorf("a refused move made schema %d, %v", schema, err)
	}
}
