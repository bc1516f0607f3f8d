package route

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// tables are those that a follower's process reads.
var tables = []string{"route", "route_change", "route_template", "sequence", "installation"}

// older keeps a copy of a database, and returns what lets it take the database's place.
func older(t *testing.T, db *store.DB) (takePlace func()) {
	t.Helper()
	each := func(statements ...string) {
		t.Helper()
		if err := db.InTx(t.Context(), func(tx *store.Tx) error {
			for _, table := range tables {
				for _, s := range statements {
					if _, err := tx.Exec(t.Context(), strings.ReplaceAll(s, "TABLE_", table)); err != nil {
						return err
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	each("CREATE TABLE old_TABLE_ AS SELECT * FROM TABLE_")
	return func() { each("DELETE FROM TABLE_", "INSERT INTO TABLE_ SELECT * FROM old_TABLE_") }
}

// restarts is a follower, and the changes of history that its process has noticed.
type restarts struct {
	*follower
	t     *testing.T
	c     *Cache
	epoch string
	log   bytes.Buffer
}

func followed(t *testing.T, db *store.DB) *restarts {
	r := &restarts{t: t}
	// Beside another value, the epoch has to be read by its name.
	if err := store.SetInstallationValue(t.Context(), db, "a", "b"); err != nil {
		t.Fatal(err)
	}
	r.c = NewCache(db, slog.New(slog.NewTextHandler(&r.log, nil)))
	r.follower = &follower{cache: r.c}
	r.pollNow()
	r.epoch = r.stored()
	return r
}

func (r *restarts) pollNow() {
	r.t.Helper()
	if err := r.poll(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *restarts) stored() string {
	r.t.Helper()
	epoch, err := r.c.db.Epoch(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return epoch
}

// TestFollowGoneBack lets an older copy take the place of the database: nothing of the
// history that is lost is served after the next poll.
func TestFollowGoneBack(t *testing.T) {
	host := func(hostname string) func(p *Publisher) error {
		return func(p *Publisher) error {
			return p.PutHost(t.Context(), hostname, "r", Host{DomainID: "id of " + hostname})
		}
	}
	for name, then := range map[string]struct {
		// meanwhile is what the new history has before the next poll.
		meanwhile func(t *testing.T, db *store.DB)
		// follower tells that the follower changes the epoch.
		follower bool
		// after is how long after what is lost the copy takes its place.
		after time.Duration
	}{
		"back":            {func(*testing.T, *store.DB) {}, true, time.Second},
		"back after long": {func(*testing.T, *store.DB) {}, true, 2 * ChangeRetention},
		"passed again": {func(t *testing.T, db *store.DB) {
			for i := range 20 {
				put(t, db, fmt.Sprint("other-", i), web)
			}
		}, true, time.Second},
		"passed again just before a sweep": {func(t *testing.T, db *store.DB) { // numbers 6 to 10 are lost
			publish(t, db, func(p *Publisher) error { return p.take(t.Context(), 10) })
			put(t, db, "other", web)
		}, true, ChangeRetention},
		"as far again after long": {func(t *testing.T, db *store.DB) {
			for i := range 7 {
				put(t, db, fmt.Sprint("other-", i), web)
			}
		}, true, 2 * ChangeRetention},
		"as far again": {func(t *testing.T, db *store.DB) {
			for i := range 7 {
				put(t, db, fmt.Sprint("other-", i), web)
			}
		}, true, time.Second},
		"numbers without a row": {func(t *testing.T, db *store.DB) {
			for range 20 {
				publish(t, db, func(*Publisher) error { return nil })
			}
			put(t, db, "other", web)
		}, true, time.Second},
		"restored": {func(t *testing.T, db *store.DB) {
			if err := store.SetInstallationValue(t.Context(), db, store.EpochName, "restored"); err != nil {
				t.Fatal(err)
			}
		}, false, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
				put(t, db, "changed", "https://e.com/before")
				put(t, db, "removed", "https://e.com/removed")
				publish(t, db, host("a.example"))
				r := followed(t, db)
				takePlace := older(t, db)
				now.Move(time.Second)
				put(t, db, "changed", "https://e.com/after")
				put(t, db, "new", web)
				publish(t, db, func(p *Publisher) error {
					if err := p.Remove(t.Context(), "a.example", "removed", "id of removed"); err != nil {
						return err
					}
					return p.Remove(t.Context(), "a.example", "", "id of a.example")
				})
				publish(t, db, host("b.example"))
				putTemplate(t, db, "tpl", 1, "lost")
				put(t, db, "last", web)
				r.pollNow()
				template := func() string {
					page, err := r.c.Template(t.Context(), binding.IOS, "tpl@1", "app")
					if err != nil {
						t.Fatal(err)
					}
					return fmt.Sprintf("%p", page)
				}
				lost := template()
				for path, want := range map[string]string{"changed": "https://e.com/after", "new": web, "removed": ""} {
					if got := destination(t, r.c, path); got != want {
						t.Fatalf("%s to %q", path, got)
					}
				}
				now.Move(then.after)
				takePlace()
				then.meanwhile(t, db)
				putTemplate(t, db, "tpl", 1, "made again")
				before := db.History()
				r.pollNow()
				for path, want := range map[string]string{"changed": "https://e.com/before", "new": "",
					"removed": "https://e.com/removed"} {
					if got := destination(t, r.c, path); got != want {
						t.Errorf("%s to %q, want %q", path, got, want)
					}
				}
				if !r.c.Serves("a.example") || r.c.Serves("b.example") {
					t.Error("the hostnames are those of the lost history")
				}
				if template() == lost {
					t.Error("a template of the lost history")
				}
				if n := db.History() - before; n != 1 {
					t.Errorf("%d changes of history noticed", n)
				}
				if got := r.stored(); got == r.epoch || (got == "restored") == then.follower {
					t.Errorf("the epoch is %q, was %q", got, r.epoch)
				}
				for range 2 { // and once only
					r.pollNow()
				}
				if n := db.History() - before; n != 1 {
					t.Errorf("%d changes of history noticed in the end", n)
				}
			})
		})
	}
}

// TestFollowEpoch has nothing but another epoch: a restore of what was published last.
func TestFollowEpoch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		put(t, db, "x", "https://e.com/before")
		r := followed(t, db)
		destination(t, r.c, "x")
		for _, epoch := range []string{"restored", ""} { // "" removes it
			if err := store.SetInstallationValue(t.Context(), db, store.EpochName, epoch); err != nil {
				t.Fatal(err)
			}
			before := db.History()
			r.pollNow()
			if _, held := r.c.present.GetEntryQuietly(key{"a.example", "x"}); held || db.History() != before+1 {
				t.Errorf("epoch %q: the link is held: %t, %d changes of history", epoch, held, db.History()-before)
			}
			destination(t, r.c, "x")
		}
	})
}

// TestFollowReadAhead loses changes that the follower has not seen, but visitors have.
func TestFollowReadAhead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		put(t, db, "x", "https://e.com/before")
		r := followed(t, db)
		takePlace := older(t, db)
		now.Move(time.Second)
		put(t, db, "x", "https://e.com/lost")
		if got := destination(t, r.c, "x"); got != "https://e.com/lost" {
			t.Fatal(got)
		}
		takePlace()
		now.Move(time.Second)
		put(t, db, "y", web)
		r.pollNow()
		if got := destination(t, r.c, "x"); got != "https://e.com/before" {
			t.Errorf("link to %q", got)
		}
		r.c.saw(change{seq: 1}) // as a read that took long
		if n := r.c.seen().seq; n != 2 {
			t.Errorf("the newest change seen is %d", n)
		}
		// What is read ahead of the follower and not lost is no reason to start afresh.
		before := db.History()
		put(t, db, "x", "https://e.com/after")
		put(t, db, "z", web)
		destination(t, r.c, "z")
		publish(t, db, func(p *Publisher) error {
			for i := range 2000 {
				if err := putLink(t.Context(), p, "a.example", fmt.Sprint("other-", i), "r", Link{}); err != nil {
					return err
				}
			}
			return nil
		})
		destination(t, r.c, "other-0")
		r.pollNow()
		if got := destination(t, r.c, "x"); got != "https://e.com/after" || db.History() != before {
			t.Errorf("link to %q, %d changes of history", got, db.History()-before)
		}
	})
}

// TestFollowReadOnly cannot change the epoch at first, as on a standby: routes are
// followed all the same, and the epoch is changed later.
func TestFollowReadOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		r := followed(t, db)
		put(t, db, "x", "https://e.com/before")
		r.pollNow()
		takePlace := older(t, db)
		now.Move(time.Second)
		put(t, db, "x", "https://e.com/lost")
		r.pollNow()
		destination(t, r.c, "x")
		takePlace()
		refusing, accepting := `CREATE TRIGGER standby BEFORE UPDATE ON installation
			BEGIN SELECT RAISE(ABORT, 'read-only'); END`, "DROP TRIGGER standby"
		if db.Dialect().Name == "postgres" {
			refusing, accepting = "ALTER TABLE installation ADD CONSTRAINT standby CHECK (value = '') NOT VALID",
				"ALTER TABLE installation DROP CONSTRAINT standby"
		}
		if _, err := db.Exec(t.Context(), refusing); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.poll(t.Context()); err == nil {
				t.Error("nobody is told that the epoch stays")
			}
			if got := destination(t, r.c, "x"); got != "https://e.com/before" || r.stored() != r.epoch {
				t.Errorf("link to %q", got)
			}
			put(t, db, "y", web)
		}
		if _, err := db.Exec(t.Context(), accepting); err != nil {
			t.Fatal(err)
		}
		r.pollNow()
		if r.stored() == r.epoch || db.History() != 1 {
			t.Errorf("the epoch is %q, was %q, %d changes of history", r.stored(), r.epoch, db.History())
		}
		if got := destination(t, r.c, "y"); got != web {
			t.Errorf("link to %q", got)
		}
	})
}

// What was read from a database that another one has taken the place of is forgotten before
// anything is read from that, which may be away.
func TestForgottenAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		put(t, db, "x", web)
		r := followed(t, db)
		destination(t, r.c, "x")
		r.c.loads[key{"a.example", "y"}] = &load{done: make(chan struct{})} // under way
		if _, err := db.Exec(t.Context(), "UPDATE installation SET value = 'another' WHERE name = ?", store.EpochName); err != nil {
			t.Fatal(err)
		}
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if strings.HasPrefix(query, "SELECT i.epoch") || strings.HasPrefix(query, "row of SELECT i.epoch") {
				return nil
			}
			return errors.New("the database is away")
		})
		err := r.poll(ctx)
		if _, held := r.c.present.GetEntryQuietly(key{"a.example", "x"}); err == nil || held || len(r.c.loads) > 0 {
			t.Errorf("%v; the route of the other database is held: %t, or waited for: %v", err, held, r.c.loads)
		}
	})
}
