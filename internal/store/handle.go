package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// handle runs statements on one of SQLite's pools or on its writer, and keeps them
// prepared. A statement is interrupted when its context is done.
type handle struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	dialect *Dialect
	kept    *statements
}

// maxKept bounds the kept statements: each combination of a list's filters is a
// statement of its own.
const maxKept = 512

// statements are prepared once and used until the database closes.
type statements struct {
	mu     sync.RWMutex
	byText map[string]*sql.Stmt
}

func (h handle) exec(ctx context.Context, query string, args []any) (int64, error) {
	stmt, err := h.prepared(ctx, query)
	if err != nil {
		return 0, describe(query, err)
	}
	var result sql.Result
	if stmt != nil {
		result, err = stmt.ExecContext(ctx, args...)
	} else {
		result, err = h.on.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, describe(query, err)
	}
	return result.RowsAffected()
}

func (h handle) rows(ctx context.Context, query string, args []any) (Rows, error) {
	stmt, err := h.prepared(ctx, query)
	if err != nil {
		return nil, describe(query, err)
	}
	var r *sql.Rows
	if stmt != nil {
		r, err = stmt.QueryContext(ctx, args...)
	} else {
		r, err = h.on.QueryContext(ctx, query, args...)
	}
	if err != nil {
		return nil, describe(query, err)
	}
	return r, nil
}

// prepared returns the kept statement for query, or nil where no more are kept. Nobody
// waits for the lock while a statement waits for its connection.
func (h handle) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	h.kept.mu.RLock()
	stmt, full := h.kept.byText[query], len(h.kept.byText) >= maxKept
	h.kept.mu.RUnlock()
	if stmt != nil || full {
		return stmt, nil
	}
	fresh, err := h.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	h.kept.mu.Lock()
	defer h.kept.mu.Unlock()
	if stmt := h.kept.byText[query]; stmt != nil {
		fresh.Close()
		return stmt, nil
	}
	if h.kept.byText == nil {
		h.kept.byText = map[string]*sql.Stmt{}
	}
	h.kept.byText[query] = fresh
	return fresh, nil
}

// uninterrupted is the handle of the writer. SQLite undoes the whole transaction when
// it interrupts a statement that writes, and with it those that share the commit. So a
// transaction whose caller has left ends before its next statement.
type uninterrupted struct{ handle }

func (u uninterrupted) exec(ctx context.Context, query string, args []any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, describe(query, err)
	}
	return u.handle.exec(context.WithoutCancel(ctx), query, args)
}

func (u uninterrupted) rows(ctx context.Context, query string, args []any) (Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, describe(query, err)
	}
	return u.handle.rows(context.WithoutCancel(ctx), query, args)
}

// close closes the statements: a connection of SQLite stays open for as long as it has
// one. What closing returns is the error of a statement's last use, which was told then.
func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.byText {
		stmt.Close()
	}
	s.byText = nil
}

// describe names the statement in an error. It leaves out the arguments: they
// may be personal.
func describe(query string, err error) error {
	return fmt.Errorf("%s: %w", oneLine(query, 200), err)
}
