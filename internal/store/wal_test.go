package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// What was written while another program read is no longer in the log when it has ended:
// after the next writes, or soon without any.
func TestLogIsBounded(t *testing.T) {
	for _, writes := range []int{2, 0} {
		synctest.Test(t, func(t *testing.T) {
			address := storetest.Address(t, "sqlite")
			db := storetest.Open(t, address, &clock.Clock{})
			write := func(size int) {
				if err := db.InTx(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(t.Context(), `INSERT INTO sequence (name, value)
						SELECT COUNT(*) || ?, 1 FROM sequence`, strings.Repeat("x", size))
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			other, err := sql.Open("sqlite", strings.TrimPrefix(address, "sqlite:"))
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			snapshot, err := other.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var rows int
			if err := snapshot.QueryRow("SELECT COUNT(*) FROM sequence").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			for range 24 {
				write(1 << 20)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := db.LogBytes(); n < 24<<20 {
				t.Errorf("while another program reads the log has %d bytes", n)
			}
			if err := snapshot.Rollback(); err != nil {
				t.Fatal(err)
			}
			for range writes {
				write(1)
			}
			if writes == 0 {
				time.Sleep(2 * time.Second)
				synctest.Wait()
			}
			if n := db.LogBytes(); n > 16<<20 {
				t.Errorf("after %d writes the log has %d bytes", writes, n)
			}
		})
	}
}
