package eventstore

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// saveEvery is how often the counts of events that are not stored reach the database:
	// those of that time may be missing after a crash.
	saveEvery = 5 * time.Second
	// maxUnstored bounds the numbers in memory, one for each app and day.
	maxUnstored = 10_000
	// saved is how many of them a transaction saves: other writers of SQLite wait for it.
	saved = 500
)

// Unstoring counts events that are not stored, in memory, and brings the counts
// to the database. It is safe for concurrent use.
type Unstoring struct {
	db     *store.DB
	log    *slog.Logger
	mu     sync.Mutex
	clicks map[appDay]int64
}

// appDay is a UTC day of an app.
type appDay struct {
	app string
	day int64
}

// NewUnstoring returns an Unstoring that counts in db.
func NewUnstoring(db *store.DB, log *slog.Logger) *Unstoring {
	return &Unstoring{db: db, log: log, clicks: map[appDay]int64{}}
}

// Add counts an event of an app and reports whether it could: with the database away for
// long, and many apps, there is no room.
func (u *Unstoring) Add(appID string, at clock.Instant) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.add(appDay{appID, utcDay(at)}, 1)
}

func (u *Unstoring) add(key appDay, n int64) bool {
	if _, known := u.clicks[key]; !known && len(u.clicks) >= maxUnstored {
		return false
	}
	u.clicks[key] += n
	return true
}

// Run brings the counts to the database every few seconds until ctx is done, and then once
// more.
func (u *Unstoring) Run(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			over = true
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
		if err := u.Save(ctx); err != nil {
			u.log.Error("the count of events that are not stored is not in the database for now", "error", err)
		}
		cancel()
	}
}

// Save brings the counts to the database now; Run does it again and again. After an error
// they stay in memory.
func (u *Unstoring) Save(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "eventstore.Unstoring.Save")
	u.mu.Lock()
	clicks := u.clicks
	u.clicks = map[appDay]int64{}
	u.mu.Unlock()
	// Processes that count the same apps meet in the same order.
	keys := slices.SortedFunc(maps.Keys(clicks), func(a, b appDay) int {
		return cmp.Or(cmp.Compare(a.app, b.app), cmp.Compare(a.day, b.day))
	})
	for some := range slices.Chunk(keys, saved) {
		err = u.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
			for _, key := range some {
				if err := tx.Send(ctx, "INSERT INTO event_unstored (app_id, day, clicks) VALUES (?, ?, ?) "+
					"ON CONFLICT (app_id, day) DO UPDATE SET clicks = event_unstored.clicks + excluded.clicks",
					key.app, key.day, clicks[key]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			u.restore(clicks)
			return err
		}
		for _, key := range some {
			delete(clicks, key)
		}
	}
	return nil
}

// restore takes counts that could not be saved back into memory. Those that came
// meanwhile have taken the place of some, for which there is no room then.
func (u *Unstoring) restore(clicks map[appDay]int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var lost int64
	for key, n := range clicks {
		if !u.add(key, n) {
			lost += n
		}
	}
	if lost > 0 {
		u.log.Error("events are missing from the count of those that are not stored: the database was away, and there "+
			"is no room for more", "events", lost)
	}
}

// SweepUnstored deletes up to limit counts of the days before that of an instant and
// returns how many it deleted.
func SweepUnstored(ctx context.Context, db *store.DB, before clock.Instant, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "eventstore.SweepUnstored")
	return db.Exec(ctx, "DELETE FROM event_unstored WHERE (app_id, day) IN "+
		"(SELECT app_id, day FROM event_unstored WHERE day < ? ORDER BY day LIMIT ?)", utcDay(before), limit)
}
