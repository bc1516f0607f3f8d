package store

import (
	"context"
	"log/slog"
	"time"
)

// HistoryTopic is signalled when an older copy has taken the place of the database.
const HistoryTopic = "history"

// watchEvery is how often Watch looks.
const watchEvery = 500 * time.Millisecond

// History tells how often an older copy has taken the place of the database since it was
// opened, as far as this process has noticed: after a restore, or when a standby that was
// behind became the database. What is remembered of the database holds for one history.
func (db *DB) History() int64 { return db.history.Load() }

// NewHistory tells whoever remembers something of the database that an older copy has
// taken its place.
func (db *DB) NewHistory() {
	db.history.Add(1)
	db.signals.send(HistoryTopic)
}

// Watch looks for another epoch until ctx is done, for a process in which nobody else
// does.
func (db *DB) Watch(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	var known string
	for {
		// An error tells nothing: the calls that need the database tell it.
		if epoch, err := db.Epoch(ctx); err == nil && epoch != known {
			if known != "" {
				log.Warn("an older copy has taken the place of the database, starting afresh")
				db.NewHistory()
			}
			known = epoch
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
