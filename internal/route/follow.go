package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// pollEvery bounds how late a process learns what another process
	// published.
	pollEvery = 200 * time.Millisecond
	// pollAtMost is how many changes are read at once, the last known one included.
	pollAtMost = 1000
)

// Follow keeps the cache up to date until ctx is done: at once with what this
// process publishes, within pollEvery with what other processes publish. While
// the database is away the cache goes on with what it has, and catches up
// afterwards. Only one Follow may run at a time.
func (c *Cache) Follow(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	f := follower{cache: c}
	var failing bool
	for {
		err := f.poll(ctx)
		if ctx.Err() != nil {
			return
		}
		if (err != nil) != failing { // one line for each outage, not five a second
			if failing = err != nil; failing {
				c.log.Warn("routes cannot be followed, going on with those at hand", "error", err)
			} else {
				c.log.Info("routes are followed again")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-c.wake:
		}
	}
}

// follower reads the changes in their order. With each poll it looks whether the database
// is still the one that it has followed: an older copy may have taken its place, when a
// standby that was behind became the database, or after a restore.
type follower struct {
	cache *Cache
	// begun is set once epoch and last are known: the installation's epoch, and the last
	// change that the cache reflects, or none.
	begun bool
	epoch string
	last  change
	// over is an epoch that went back, until the installation has another one.
	over string
}

// change is a row of route_change. No other history of the database has the same one: a
// number may be given again, to another address or at another instant.
type change struct {
	seq int64
	key key
	at  clock.Instant
}

// newestChange is the rest of a SELECT of the columns of change, after others: always one
// row, with NULL where there is no change.
const newestChange = `c.seq, c.hostname, c.path, c.changed_at FROM (SELECT 1 AS one) one LEFT JOIN
	(SELECT seq, hostname, path, changed_at FROM route_change ORDER BY seq DESC LIMIT 1) c ON TRUE`

// scanChange scans a change, the zero one for NULL, after other columns.
func scanChange(r store.Row, before any) (ch change, err error) {
	var seq *int64
	var hostname, path *string
	var at *clock.Instant
	if err = r.Scan(before, &seq, &hostname, &path, &at); err == nil && seq != nil {
		ch = change{*seq, key{*hostname, *path}, *at}
	}
	return ch, err
}

// poll takes over the changes since the last one.
func (f *follower) poll(ctx context.Context) error {
	for {
		err := f.end(ctx)
		if !f.begun {
			return errors.Join(err, f.begin(ctx))
		}
		n, stepErr := f.step(ctx)
		if stepErr != nil {
			return errors.Join(err, fmt.Errorf("follow routes after change %d: %w", f.last.seq, stepErr))
		}
		if f.begun && n < pollAtMost {
			return err
		}
	}
}

// begin starts at the newest change, and then drops everything read before,
// which may be older, and reads all hostnames.
func (f *follower) begin(ctx context.Context) (err error) {
	f.begun = false
	reading, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	if f.epoch, err = f.cache.db.Epoch(reading); err != nil {
		return fmt.Errorf("follow routes: %w", err)
	}
	if f.last, err = f.newest(reading); err != nil {
		return fmt.Errorf("follow routes: %w", err)
	}
	f.cache.clear()
	if err := f.cache.hosts.load(ctx, f.cache.db); err != nil {
		return err
	}
	read, err := f.newest(ctx)
	if err != nil {
		return fmt.Errorf("follow routes: %w", err)
	}
	f.cache.saw(read) // the hostnames reflect it
	f.begun = true
	f.cache.followed.Store(true)
	return nil
}

// newest returns the newest change, the zero one when there is none.
func (f *follower) newest(ctx context.Context) (change, error) {
	return store.One(ctx, f.cache.db, func(r store.Row) (change, error) { return scanChange(r, new(int)) },
		"SELECT 1, "+newestChange)
}

// step takes over the next few changes and returns how many it read.
func (f *follower) step(ctx context.Context) (int, error) {
	reading, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	seen := f.cache.seen()
	var epoch *string
	changes, err := store.All(reading, f.cache.db, func(r store.Row) (change, error) { return scanChange(r, &epoch) },
		`SELECT i.epoch, c.seq, c.hostname, c.path, c.changed_at FROM (SELECT (SELECT value FROM installation
			WHERE name = ?) AS epoch) i LEFT JOIN (SELECT seq, hostname, path, changed_at FROM route_change WHERE seq >= ?
			ORDER BY seq LIMIT ?) c ON TRUE ORDER BY c.seq`, store.EpochName, f.last.seq, pollAtMost)
	if err != nil {
		return 0, err
	}
	if changes[0].seq == 0 {
		changes = nil
	}
	if epoch == nil || *epoch != f.epoch {
		f.again(wentBack)
		return 0, nil
	}
	if f.last.seq == 0 && len(changes) > 0 {
		f.begun = false // the first changes: some may have been swept
		return 0, nil
	}
	for _, known := range []change{f.last, seen} {
		if known.seq == 0 || known.seq < f.last.seq || has(changes, known) {
			continue
		}
		// A sweep leaves what is younger, and the newest change.
		young := f.last.at >= f.cache.db.Now().Add(-ChangeRetention)
		if len(changes) > 0 && changes[0].seq > f.last.seq && !young {
			f.again("changes of routes were missed")
		} else {
			f.over = f.epoch
			f.again(wentBack)
		}
		return 0, nil
	}
	for _, ch := range changes {
		if ch.seq == f.last.seq {
			continue
		}
		if err := f.cache.refresh(ctx, ch); err != nil {
			return 0, err
		}
		f.last = ch
	}
	return len(changes), nil
}

// has reports whether changes have one, or can be followed by it.
func has(changes []change, one change) bool {
	i, found := slices.BinarySearchFunc(changes, one.seq, func(ch change, seq int64) int { return cmp.Compare(ch.seq, seq) })
	return found && changes[i] == one || i == pollAtMost
}

const wentBack = "an older copy has taken the place of the database"

// again drops everything that was read from the database, also what others remember of
// it, and has poll begin anew.
func (f *follower) again(why string) {
	f.cache.log.Warn(why+", starting afresh", "after", f.last.seq)
	f.begun = false
	f.cache.clear()
	f.cache.db.NewHistory()
}

// end gives the installation another epoch when its database went back without a restore,
// so that processes notice which look only when the changes have come as far again. A
// standby that only reads refuses; it is tried again.
func (f *follower) end(ctx context.Context) error {
	if f.over == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	if err := f.cache.db.NewEpoch(ctx, f.over); err != nil {
		return fmt.Errorf("another epoch: %w", err)
	}
	f.over, f.begun = "", false
	return nil
}
