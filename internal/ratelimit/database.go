package ratelimit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const sweepEvery = time.Minute

// Database counts in the main database: for an installation that several
// processes serve.
type Database struct {
	db       *store.DB
	together together
}

// NewDatabase returns counters in db.
func NewDatabase(db *store.DB) *Database { return &Database{db: db} }

// errFull rolls a refused call's counts back.
var errFull = errors.New("a window is full")

// Take implements Limiter.
func (d *Database) Take(ctx context.Context, now clock.Instant,
	buckets []Bucket) (standings []Standing, admitted bool, err error) {
	defer fault.Wrap(&err, "ratelimit.Take")
	a := d.together.take(ctx, windowsOf(buckets, now), func(ctx context.Context, n int) []answer {
		return d.takeAll(ctx, now, buckets, n)
	})
	return a.standings, a.admitted, a.err
}

// takeAll counts n calls: in one transaction when the windows have room for all
// of them, otherwise one by one until a window is full.
func (d *Database) takeAll(ctx context.Context, now clock.Instant, buckets []Bucket, n int) (answers []answer) {
	if n > 1 {
		used, err := d.count(ctx, now, buckets, int64(n))
		if err == nil {
			for i := range n {
				answers = append(answers, answer{standingsOf(buckets, used, int64(n-1-i), now), true, nil})
			}
			return answers
		}
		if !errors.Is(err, errFull) {
			return slices.Repeat([]answer{{err: err}}, n)
		}
	}
	for range n {
		used, err := d.count(ctx, now, buckets, 1)
		if errors.Is(err, errFull) {
			standings, err := d.Peek(ctx, now, buckets)
			return append(answers, slices.Repeat([]answer{{standings, false, err}}, n-len(answers))...)
		}
		if err != nil {
			return append(answers, slices.Repeat([]answer{{err: err}}, n-len(answers))...)
		}
		answers = append(answers, answer{standingsOf(buckets, used, 0, now), true, nil})
	}
	return answers
}

// count counts n calls in every bucket, or in none with errFull, and returns what
// is used then.
func (d *Database) count(ctx context.Context, now clock.Instant, buckets []Bucket,
	n int64) (used map[string]int64, err error) {
	// One order for every call, so that two never hold what the other wants.
	sorted := slices.Clone(buckets)
	slices.SortFunc(sorted, func(a, b Bucket) int { return strings.Compare(a.id(), b.id()) })
	if slices.ContainsFunc(sorted, func(b Bucket) bool { return b.Limit < n }) {
		return nil, errFull // the row of a new window would not be compared with its limit
	}
	// A full window's row is left alone, so it is not among those returned.
	var args []any
	for _, b := range sorted {
		args = append(args, b.id(), b.start(now), n)
	}
	query := "INSERT INTO rate_window (bucket, starts_at, used) VALUES " +
		strings.Repeat("(?, ?, ?), ", len(sorted)-1) + `(?, ?, ?) ON CONFLICT (bucket, starts_at)
		DO UPDATE SET used = rate_window.used + excluded.used WHERE rate_window.used <= CASE rate_window.bucket`
	for _, b := range sorted {
		query += " WHEN ? THEN CAST(? AS BIGINT)"
		args = append(args, b.id(), b.Limit-n)
	}
	query += " END RETURNING bucket, used"
	err = d.db.InTxUnsynced(ctx, func(tx *store.Tx) error {
		used, err = usedByBucket(ctx, tx, query, args)
		if err == nil && len(used) < len(sorted) {
			return errFull
		}
		return err
	})
	return used, err
}

// Add implements Limiter.
func (d *Database) Add(ctx context.Context, now clock.Instant, b Bucket, n int64) (s Standing, err error) {
	defer fault.Wrap(&err, "ratelimit.Add")
	err = d.db.InTxUnsynced(ctx, func(tx *store.Tx) error {
		used, err := usedByBucket(ctx, tx, `INSERT INTO rate_window (bucket, starts_at, used) VALUES (?, ?, ?)
			ON CONFLICT (bucket, starts_at) DO UPDATE SET used = rate_window.used + excluded.used
			RETURNING bucket, used`, []any{b.id(), b.start(now), n})
		s = b.standing(used[b.id()], now)
		return err
	})
	return s, err
}

// standingsOf returns the standings of a call after which others were counted.
func standingsOf(buckets []Bucket, used map[string]int64, after int64, now clock.Instant) []Standing {
	standings := make([]Standing, len(buckets))
	for i, b := range buckets {
		standings[i] = b.standing(used[b.id()]-after, now)
	}
	return standings
}

// Peek implements Limiter.
func (d *Database) Peek(ctx context.Context, now clock.Instant, buckets []Bucket) (standings []Standing, err error) {
	defer fault.Wrap(&err, "ratelimit.Peek")
	var args []any
	for _, b := range buckets {
		args = append(args, b.id(), b.start(now))
	}
	query := "SELECT bucket, used FROM rate_window WHERE (bucket, starts_at) IN (VALUES " +
		strings.Repeat("(?, CAST(? AS BIGINT)), ", len(buckets)-1) + "(?, CAST(? AS BIGINT)))"
	used, err := usedByBucket(ctx, d.db, query, args)
	if err != nil {
		return nil, err
	}
	standings = make([]Standing, len(buckets))
	for i, b := range buckets {
		standings[i] = b.standing(used[b.id()], now)
	}
	return standings, nil
}

func usedByBucket(ctx context.Context, q store.Q, query string, args []any) (map[string]int64, error) {
	type row struct {
		bucket string
		used   int64
	}
	rows, err := store.All(ctx, q, func(r store.Row) (v row, err error) {
		err = r.Scan(&v.bucket, &v.used)
		return v, err
	}, query, args...)
	used := make(map[string]int64, len(rows))
	for _, r := range rows {
		used[r.bucket] = r.used
	}
	return used, err
}

// Sweep removes at most limit windows that ended: the longest is an hour.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "ratelimit.Sweep")
	return db.Exec(ctx, `DELETE FROM rate_window WHERE (bucket, starts_at) IN
		(SELECT bucket, starts_at FROM rate_window WHERE starts_at < ? ORDER BY starts_at
		LIMIT ?)`, db.Now().Add(-2*time.Hour), limit)
}
