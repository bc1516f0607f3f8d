package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// eraseStep is how many events a transaction of Erase looks at: some 10 ms, for which
// other writers of SQLite wait.
const eraseStep = 10_000

// reading is how long a query that has begun before may still read what is deleted.
const reading = 10 * time.Second

// Erase implements eventstore.Engine. No index leads to the events of a link or of an
// install, which would make each click dearer: it reads the events of the apps that
// may have them.
func (s *Store) Erase(ctx context.Context, e eventstore.Erasure) (deleted int64, gone clock.Instant, err error) {
	var apps []int64
	var chosen string
	var arg any
	switch {
	case e.LinkID != "":
		chosen, arg = "link_no IN (SELECT no FROM event_link WHERE link_id = ?)", e.LinkID
		apps, err = store.All(ctx, s.db, store.Value[int64], "SELECT DISTINCT app_no FROM event_link WHERE link_id = ?",
			e.LinkID)
	case e.Install != 0:
		chosen, arg = "install = ?", e.Install
		apps, err = store.All(ctx, s.db, store.Value[int64], "SELECT no FROM event_app ORDER BY no")
	}
	for _, app := range apps {
		var n int64
		n, err = s.eraseOf(ctx, app, chosen, arg)
		if deleted += n; err != nil {
			break
		}
	}
	if err != nil {
		return deleted, 0, fmt.Errorf("erase events: %w", err)
	}
	return deleted, s.db.Now().Add(reading), nil
}

// eraseOf deletes the events of an app that meet a condition, step by step.
func (s *Store) eraseOf(ctx context.Context, app int64, chosen string, arg any) (deleted int64, err error) {
	const step = "SELECT at, id FROM event WHERE app_no = ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT 1 OFFSET ?"
	from := eventstore.Place{At: -1 << 63}
	for last := false; !last; {
		to, err := store.One(ctx, s.db, func(r store.Row) (p eventstore.Place, err error) {
			return p, r.Scan(&p.At, &p.ID)
		}, step, app, int64(from.At), from.ID, eraseStep-1)
		if last = errors.Is(err, store.ErrNotFound); last {
			to, err = eventstore.Place{At: 1<<63 - 1}, nil
		}
		if err != nil {
			return deleted, err
		}
		w := (&store.Where{}).And("app_no = ?", app)
		w.And("(at, id) > (?, ?)", int64(from.At), from.ID).And("(at, id) <= (?, ?)", int64(to.At), to.ID)
		n, err := s.db.Exec(ctx, "DELETE FROM event"+w.String()+" AND "+chosen, w.Args(arg)...)
		if deleted += n; err != nil {
			return deleted, err
		}
		from = to
	}
	return deleted, nil
}
