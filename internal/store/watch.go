package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/tracing"
)

// maxSlowText bounds the text of a statement in the log and in traces, in bytes.
const maxSlowText = 1000

// slow says which statements are logged.
type slow struct {
	after time.Duration // 0 logs none
	log   *slog.Logger
}

// LogSlow logs each statement of this process that takes longer than a time, with its waiting for a
// connection and, on SQLite, for its commit. It logs the text alone: arguments may be personal. It is
// called before the database is used; 0 logs none.
func (db *DB) LogSlow(after time.Duration, log *slog.Logger) { db.slow = slow{after, log} }

// watched is a statement under way whose time is of interest, nil for all others.
type watched struct {
	slow
	query string
	began time.Time
	span  tracing.Span
}

// watch begins to watch a statement of the work of ctx.
func (d *database) watch(ctx context.Context, query string) *watched {
	traced := tracing.Traced(ctx)
	if d.slow.after == 0 && !traced {
		return nil
	}
	w := &watched{slow: d.slow, query: query, began: time.Now()}
	if traced {
		_, w.span = tracing.Start(ctx, "statement", tracing.Text("db.system.name", d.dialect.Name),
			tracing.Text("db.query.text", oneLine(query, maxSlowText)))
	}
	return w
}

// watchRead begins to watch a query.
func watchRead(ctx context.Context, q Q, query string) *watched {
	switch q := q.(type) {
	case *Tx:
		return q.db.watch(q.work, query)
	case *DB:
		return q.watch(ctx, query)
	}
	return nil
}

// ended tells how the statement ended.
func (w *watched) ended(err error) {
	if w == nil {
		return
	}
	if w.span != nil {
		if err != nil && !errors.Is(err, ErrNotFound) {
			tracing.Fail(w.span, "failed")
		}
		w.span.End()
	}
	if took := time.Since(w.began); w.after > 0 && took > w.after {
		w.log.Warn("slow statement", "took_ms", float64(took.Microseconds())/1000, "failed", err != nil && !errors.Is(err, ErrNotFound),
			"statement", oneLine(w.query, maxSlowText))
	}
}

// oneLine returns the text of a statement in one line, cut to a length.
func oneLine(query string, most int) string {
	text := strings.Join(strings.Fields(query), " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
