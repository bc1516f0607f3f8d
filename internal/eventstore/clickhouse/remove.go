package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

const (
	// sweepEvery is how often Sweep rewrites parts for events that are too old.
	sweepEvery = 24 * time.Hour
	// keptParts is how long a server keeps parts that it has replaced, which no query
	// reads any more (old_parts_lifetime).
	keptParts = 8 * time.Minute
	// firstLook and longestLook are how often one looks whether parts are rewritten.
	firstLook, longestLook = 20 * time.Millisecond, 2 * time.Second
)

// Erase implements eventstore.Engine. The parts with such events are rewritten, and the
// old ones stay on the server's disk for a while.
func (s *Store) Erase(ctx context.Context, e eventstore.Erasure) (deleted int64, gone clock.Instant, err error) {
	var conditions string
	switch {
	case e.LinkID != "":
		conditions = "link = " + text(e.LinkID)
	case e.Install != 0:
		conditions = "install = " + strconv.FormatInt(e.Install, 10)
	default:
		return 0, s.clock.Now(), nil
	}
	if err = s.prepare(ctx); err == nil {
		deleted, err = s.remove(ctx, conditions)
	}
	if err == nil && deleted > 0 {
		err = s.await(ctx, changeTimeout)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("erase events: %w", err)
	}
	return deleted, s.clock.Now().Add(keptParts), nil
}

// Sweep implements eventstore.Engine. Months that have ended before the instant are
// dropped at once; events of the month of the instant are deleted once a day, as that
// rewrites the parts of the month. The limit has no meaning: no step of this is long
// for anybody else. It waits for a while until the events are gone; the server goes on.
func (s *Store) Sweep(ctx context.Context, before clock.Instant, _ int64) (deleted int64, err error) {
	if err := s.prepare(ctx); err != nil {
		return 0, fmt.Errorf("sweep events before %s: %w", before, err)
	}
	if s.db != nil {
		if err := eventstore.SweepLoaded(ctx, s.db, before); err != nil {
			return 0, err
		}
	}
	month := before.Time().Year()*100 + int(before.Time().Month())
	type partition struct {
		id   uint32
		rows int64
	}
	old, err := all(ctx, s, queryTimeout, func(r driver.Rows) (p partition, err error) {
		return p, r.Scan(&p.id, &p.rows)
	}, "SELECT toUInt32(partition) AS month, toInt64(sum(rows)) FROM system.parts WHERE database = ? AND table = 'event' "+
		"AND active AND month < ? GROUP BY month", s.database, month)
	for _, p := range old {
		if err != nil {
			break
		}
		if err = s.exec(ctx, changeTimeout, fmt.Sprintf("ALTER TABLE %s DROP PARTITION %d", s.table, p.id)); err == nil {
			deleted += p.rows
		}
	}
	if err == nil && s.due() {
		var n int64
		n, err = s.remove(ctx, "at < "+strconv.FormatInt(int64(before), 10))
		if deleted += n; err == nil {
			s.done()
			if n > 0 {
				err = s.await(ctx, sweepTimeout)
			}
		}
		if errors.Is(err, errGoesOn) {
			err = nil
		}
	}
	if err != nil {
		return deleted, fmt.Errorf("sweep events before %s: %w", before, err)
	}
	return deleted, nil
}

// due reports whether it is time to rewrite parts for events that are too old.
func (s *Store) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.swept == 0 || s.clock.Now().Sub(s.swept) >= sweepEvery
}

// done notes that the server has taken the deletion of events that are too old.
func (s *Store) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept = s.clock.Now()
}

// remove makes the server delete the events that meet conditions, and returns how many
// there were.
func (s *Store) remove(ctx context.Context, conditions string) (deleted int64, err error) {
	deleted, err = one[int64](ctx, s, queryTimeout, "SELECT toInt64(count()) FROM "+s.table+" WHERE "+conditions)
	if err != nil || deleted == 0 {
		return 0, err
	}
	return deleted, s.exec(ctx, schemaTimeout, "ALTER TABLE "+s.table+" DELETE WHERE "+conditions)
}

var errGoesOn = errors.New("the server has not yet deleted the events, and goes on with it")

// await waits until no query reads deleted events any more, with errGoesOn after a time.
func (s *Store) await(ctx context.Context, atMost time.Duration) error {
	over := time.After(atMost)
	for wait := firstLook; ; wait = min(2*wait, longestLook) {
		left, err := one[uint64](ctx, s, queryTimeout,
			"SELECT count() FROM system.mutations WHERE database = ? AND table = 'event' AND NOT is_done", s.database)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-time.After(wait):
		case <-over:
			return errGoesOn
		case <-ctx.Done():
			return errors.Join(errGoesOn, ctx.Err())
		}
	}
}
