package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"
)

// Row is what a scan function reads from.
type Row interface{ Scan(dest ...any) error }

// Rows is the answer to a query.
type Rows interface {
	Row
	// Next goes to the next row; false is the end, or an error.
	Next() bool
	// Err returns the error that ended the rows early, if any.
	Err() error
	// Close ends reading.
	Close() error
}

// One returns the single row of a query, or ErrNotFound. A second row is an error: to take one of two would be a guess,
// and it could be another owner's.
func One[T any](ctx context.Context, q Q, scan func(Row) (T, error), query string, args ...any) (v T, err error) {
	err = read(ctx, q, query, args, func(r Rows) error {
		if !r.Next() {
			return cmp.Or(r.Err(), ErrNotFound)
		}
		if v, err = scan(r); err == nil && r.Next() {
			err = errSecondRow
		}
		return cmp.Or(err, r.Err(), r.Close())
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

var errSecondRow = errors.New("the query of one row has a second one")

// All returns every row of a query; an empty result is an empty, non-nil
// slice.
func All[T any](ctx context.Context, q Q, scan func(Row) (T, error), query string, args ...any) (all []T, err error) {
	err = read(ctx, q, query, args, func(r Rows) error {
		all = []T{}
		for r.Next() {
			v, err := scan(r)
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// read runs a query and hands its rows to take; once more where the connection was lost
// outside a transaction.
func read(ctx context.Context, q Q, query string, args []any, take func(Rows) error) error {
	attempt := func() (err error) {
		w := watchRead(ctx, q, query)
		defer func() { w.ended(err) }()
		r, err := q.Rows(ctx, query, args...)
		if err != nil {
			return err // described already
		}
		defer r.Close()
		if err := take(withFaults(ctx, query, r)); err != nil && err != ErrNotFound {
			return describe(query, err)
		} else {
			return err
		}
	}
	err := attempt()
	if db, outside := q.(*DB); outside && db.isLost(err) && ctx.Err() == nil {
		err = attempt()
	}
	return err
}

// Value scans a row of one column.
func Value[T any](r Row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// Exists reports whether a query has a row.
func Exists(ctx context.Context, q Q, query string, args ...any) (exists bool, err error) {
	err = read(ctx, q, query, args, func(r Rows) error {
		exists = r.Next()
		return cmp.Or(r.Err(), r.Close())
	})
	return exists && err == nil, err
}

// Marks returns n placeholders: "?, ?, ?".
func Marks(n int) string {
	if n == 0 {
		return "NULL"
	}
	return strings.Repeat("?, ", n-1) + "?"
}

// Chunks divides rows into parts of 32 and, of what is left, smaller powers of
// two, so that statements of many rows come in few texts.
func Chunks[T any](rows []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for size := 32; len(rows) > 0; {
			if size > len(rows) {
				size /= 2
				continue
			}
			if !yield(rows[:size:size]) {
				return
			}
			rows = rows[size:]
		}
	}
}

// Where builds a conjunction and its arguments.
type Where struct {
	parts []string
	args  []any
}

// And adds a condition with its arguments.
func (w *Where) And(condition string, args ...any) *Where {
	w.parts = append(w.parts, condition)
	w.args = append(w.args, args...)
	return w
}

// String returns " WHERE a AND b", or nothing.
func (w *Where) String() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// Args returns the arguments of all conditions and then more.
func (w *Where) Args(more ...any) []any { return append(w.args[:len(w.args):len(w.args)], more...) }

// NullString makes an empty string NULL.
func NullString(s string) any {
	if s == "" {
		return nil
	}
	return s
}

var _ Rows = (*sql.Rows)(nil)
