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
type Database struct{ db *store.DB }

// NewDatabase returns counters in db.
func NewDatabase(db *store.DB) *Database { return &Database{db} }

// errFull rolls a refused call's counts back.
var errFull = errors.New("a window is full")

// Take implements Limiter.
func (d *Database) Take(ctx context.Context, now clock.Instant, buckets []Bucket) (standings []Standing, admitted bool,
	err error) {
	defer fault.Wrap(&err, "ratelimit.Take")
	// One order for every call, so that two never hold what the other wants.
	sorted := slices.Clone(buckets)
	slices.SortFunc(sorted, func(a, b Bucket) int { return strings.Compare(a.id(), b.id()) })
	var used map[string]int64
	err = d.db.InTxUnsynced(ctx, func(tx *store.Tx) error {
		// A full window's row is left alone, so it is not among those
		// returned.
		var args []any
		for _, b := range sorted {
			args = append(args, b.id(), b.start(now))
		}
		query := "INSERT INTO rate_window (bucket, starts_at, used) VALUES " + strings.Repeat("(?, ?, 1), ",
			len(sorted)-1) + "(?, ?, 1)" +
			" ON CONFLICT (bucket, starts_at) DO UPDATE SET used = rate_window.used + 1 WHERE rate_window.used < " +
			"CASE rate_window.bucket"
		for _, b := range sorted {
			query += " WHEN ? THEN CAST(? AS BIGINT)"
			args = append(args, b.id(), b.Limit)
		}
		query += " END RETURNING bucket, used"
		used, err = usedByBucket(ctx, tx, query, args)
		if err == nil && len(used) < len(sorted) {
			return errFull
		}
		return err
	})
	if errors.Is(err, errFull) {
		standings, err = d.Peek(ctx, now, buckets)
		return standings, false, err
	}
	if err != nil {
		return nil, false, err
	}
	standings = make([]Standing, len(buckets))
	for i, b := range buckets {
		standings[i] = b.standing(used[b.id()], now)
	}
	return standings, true, nil
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
