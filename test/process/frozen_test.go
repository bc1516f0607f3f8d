//go:build soak

package process_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
)

// An executor that stands still at any moment and wakes up after its lease
// changes nothing that another did meanwhile. internal/executor has the same
// with a clock that is moved; this takes the real half minute, so it is part of
// make soak only.
func TestFrozenExecutor(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	s := serve(t, t.TempDir(), database, "--roles", "api,redirect")
	frozen := serve(t, t.TempDir(), database, "--roles", "executor")
	l := newLoad(t, s)
	db := open(t, "", database)
	for round := range 3 {
		var wg sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		l.writers(ctx, round, 4, &wg)
		time.Sleep(300*time.Millisecond + rand.N(time.Second))
		frozen.signal(syscall.SIGSTOP)
		wg.Wait()
		cancel()
		other := serve(t, t.TempDir(), database, "--roles", "executor")
		began := time.Now()
		l.published(t, s, db)
		t.Logf("round %d: all %d links published %s after the freeze", round, len(l.links), time.Since(began).
			Round(time.Millisecond))
		before := published(t, db)
		frozen.signal(syscall.SIGCONT)
		time.Sleep(2 * time.Second) // for what it might still do
		if after := published(t, db); !reflect.DeepEqual(before, after) {
			t.Error("an executor that woke up changed what was published")
		}
		l.verify(t, db)
		other.terminate()
		// It is of use again.
		slug := fmt.Sprintf("awake-%d", round)
		l.owner.create(t, slug)
		l.fixed = append(l.fixed, slug)
		s.visitor(t).leadsTo(t, slug, slug+"-0")
		if t.Failed() {
			return
		}
	}
	frozen.terminate()
}

// published returns all routes and their changes.
func published(t *testing.T, db *store.DB) []string {
	t.Helper()
	rows, err := store.All(t.Context(), db, store.Value[string],
		`SELECT hostname || ' ' || path || ' ' || revision || ' ' || document FROM route
		UNION ALL SELECT 'change ' || CAST(seq AS TEXT) || ' ' || path FROM route_change ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// An executor that stands still in the middle of a transaction holds up
// publication no longer than its lease: its machine may never come back.
func TestFrozenInTransaction(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	s := serve(t, t.TempDir(), database, "--roles", "api,redirect")
	o := newOwner(t, s.client(s.token("owner@example.com")))
	db := open(t, "", database)
	// The domain is published before: its job must not be in the frozen batch.
	preparing := serve(t, t.TempDir(), database, "--roles", "executor")
	v := s.visitor(t)
	o.create(t, "before")
	v.leadsTo(t, "before", "before-0")
	preparing.terminate()
	held := o.create(t, "held")
	// The executor comes as far as to the link's row, which is held here, and
	// has the lock of all publishers by then.
	locked, released, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release) // so that the database can be closed
	go func() {
		ended <- db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
			// The server would end a transaction that stands still.
			if _, err := tx.Exec(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
				return err
			}
			if _, err := store.One(t.Context(), tx, store.Value[string], "SELECT id FROM link WHERE id = ? FOR UPDATE",
				held.ID); err != nil {
				return err
			}
			close(locked)
			<-released
			return nil
		})
	}()
	<-locked
	frozen := serve(t, t.TempDir(), database, "--roles", "executor")
	eventually(t, "the executor waits for the row", func() error {
		if n := number(t, db, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock' AND query LIKE 'UPDATE link %'`); n == 0 {
			return fmt.Errorf("nobody waits")
		}
		return nil
	})
	frozen.signal(syscall.SIGSTOP)
	release()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	serve(t, t.TempDir(), database, "--roles", "executor")
	o.create(t, "other")
	v.leadsTo(t, "other", "other-0")
	t.Logf("another link is published %s after the freeze", time.Since(began).Round(time.Millisecond))
	v.leadsTo(t, "held", "held-0")
	t.Logf("the held link is published %s after the freeze", time.Since(began).Round(time.Millisecond))
	frozen.signal(syscall.SIGCONT)
	time.Sleep(2 * time.Second)
	if strings.Contains(frozen.stderr.String(), "level=ERROR") {
		t.Logf("the frozen executor logged: %s", tail(frozen.stderr.String()))
	}
	if s := inventory(t, db)["held"]; s.routed != s.revision || s.status != "synced" {
		t.Errorf("the held link is %+v", s)
	}
}

func tail(text string) string { return text[max(0, len(text)-1000):] }

// resumed kills an executor in the middle of a batch beside a second one and
// returns how long it takes until the next item is done.
func resumed(t *testing.T, flags ...string) time.Duration {
	database := addressOf(t, "postgres")
	s := serve(t, t.TempDir(), database, "--roles", "api,redirect")
	d := newDurable(t, s)
	db := open(t, "", database)
	preparing := serve(t, t.TempDir(), database, append(flags, "--roles", "executor")...)
	b := d.batch(t, 15)
	doneAtLeast(t, db, b.ID, 3)
	preparing.kill()
	killed := time.Now()
	done := doneItems(t, db, b.ID)
	serve(t, t.TempDir(), database, append(flags, "--roles", "executor")...)
	eventually(t, "an item more", func() error {
		if doneItems(t, db, b.ID) == done && done < 45 {
			return errors.New("none")
		}
		return nil
	})
	took := time.Since(killed)
	ended(t, db, b.OperationID)
	exactlyOnce(t, db, b, 45)
	return took
}

// After kill -9 another executor goes on within 35 seconds, the lease included;
// with a short lease accordingly sooner. Twenty times each.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	for _, lease := range []string{"30s", "2s"} {
		t.Run(lease, func(t *testing.T) {
			var mu sync.Mutex
			var worst time.Duration
			t.Run("rounds", func(t *testing.T) {
				for n := range 20 {
					t.Run(fmt.Sprint(n), func(t *testing.T) {
						t.Parallel()
						took := resumed(t, "--job-lease", lease)
						mu.Lock()
						defer mu.Unlock()
						worst = max(worst, took)
					})
				}
			})
			t.Logf("worst of 20 with a lease of %s: %s", lease, worst.Round(time.Millisecond))
			if lease == "30s" && worst > 35*time.Second {
				t.Errorf("work resumed only %s after the kill", worst)
			}
		})
	}
}
