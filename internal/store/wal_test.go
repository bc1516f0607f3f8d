package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// After Close a copy of the database's file has everything, also when another process
// has the database open. Without one, no other file is left.
func TestCloseLeavesOneFile(t *testing.T) {
	for _, alone := range []bool{true, false} {
		address := storetest.Address(t, "sqlite")
		db := storetest.Open(t, address, &clock.Clock{})
		if !alone {
			storetest.Open(t, address, &clock.Clock{})
		}
		for n := range 100 {
			insert := func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), "INSERT INTO sequence (name, value) VALUES (?, 1)", fmt.Sprint(n))
				return err
			}
			if err := db.InTx(t.Context(), insert); err != nil {
				t.Fatal(err)
			}
			if err := db.InTx(t.Context(), insert); !db.IsUnique(err) {
				t.Fatal(err)
			}
			for _, q := range []store.Q{db, db.Long()} {
				if _, err := store.One(t.Context(), q, store.Value[int64], "SELECT COUNT(*) FROM sequence"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		file := strings.TrimPrefix(address, "sqlite:")
		if left, err := os.ReadDir(filepath.Dir(file)); err != nil || alone && len(left) != 1 {
			t.Errorf("left are %v, %v; want the database alone", left, err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		backup := storetest.Address(t, "sqlite")
		if err := os.WriteFile(strings.TrimPrefix(backup, "sqlite:"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := store.One(t.Context(), storetest.Open(t, backup, &clock.Clock{}), store.Value[int64],
			"SELECT COUNT(*) FROM sequence WHERE name <> 'route_change'"); err != nil || n != 100 {
			t.Errorf("alone %v: the copy has %d rows, %v; want 100", alone, n, err)
		}
	}
}
