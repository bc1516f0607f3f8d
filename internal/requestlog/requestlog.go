// Package requestlog keeps request diagnostics: what was asked, how it ended
// and how long it took, without bodies, queries, addresses or credentials
// (api-v1.md, Audit event and request diagnostic).
//
// Records are gathered and written a few times a second, so that a read costs
// no write; a crash may lose the last quarter of a second of them.
package requestlog

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Record is one authenticated request.
type Record struct {
	ID         string // the request id
	OwnerID    string
	Operation  string
	Method     string
	Route      string // the path's pattern, not the path
	Status     int
	DurationMS int64
	ErrorCode  string // "" when it succeeded
	ActorType  string
	ActorID    string
	AppID      string // "" when none
	CreatedAt  clock.Instant
}

// Log gathers records and writes them.
type Log struct {
	db  *store.DB
	log *slog.Logger
	mu  sync.Mutex
	// writing is held by the one Flush that writes.
	writing  sync.Mutex
	gathered []Record
	dropped  int
	failing  bool // of Run alone
}

const (
	flushEvery = 250 * time.Millisecond
	// maxGathered bounds memory while the database is away.
	maxGathered = 20_000
	maxPerWrite = 256
)

// New returns a log that writes to db; Run does the writing.
func New(db *store.DB, log *slog.Logger) *Log { return &Log{db: db, log: log} }

// Add gathers a record. While more than 20,000 wait for a database that is
// away, further ones are dropped and counted in the log.
func (l *Log) Add(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.gathered) >= maxGathered {
		l.dropped++
		return
	}
	l.gathered = append(l.gathered, r)
}

// Run writes gathered records until ctx ends, and then the last ones.
func (l *Log) Run(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			l.flushLogged(last)
			return
		case <-ticker.C:
			l.flushLogged(ctx)
		}
	}
}

// flushLogged tells of an outage once, not four times a second.
func (l *Log) flushLogged(ctx context.Context) {
	err := l.Flush(ctx)
	if err != nil && !l.failing && ctx.Err() == nil {
		l.log.Error("request records cannot be written, they wait", "error", err)
	}
	l.failing = err != nil
}

// Flush writes what is gathered, so that a following read sees it.
func (l *Log) Flush(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "requestlog.Flush")
	l.writing.Lock()
	defer l.writing.Unlock()
	for {
		l.mu.Lock()
		if l.dropped > 0 {
			l.log.Warn("request records dropped while the database was away", "count", l.dropped)
			l.dropped = 0
		}
		batch := l.gathered[:batchSize(len(l.gathered))]
		l.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		if err := l.write(ctx, batch); err != nil {
			return err
		}
		l.mu.Lock()
		if l.gathered = l.gathered[len(batch):]; len(l.gathered) == 0 {
			l.gathered = nil
		}
		l.mu.Unlock()
	}
}

// batchSize returns how many of n records to write at once. The sizes are few,
// because each is a statement of its own that the database keeps prepared.
func batchSize(n int) int {
	for _, size := range []int{maxPerWrite, 16} {
		if n >= size {
			return size
		}
	}
	return min(n, 1)
}

func (l *Log) write(ctx context.Context, batch []Record) error {
	const row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	args := make([]any, 0, 12*len(batch))
	for _, r := range batch {
		args = append(args, r.ID, r.OwnerID, r.Operation, r.Method, r.Route, r.Status, r.DurationMS,
			store.NullString(r.ErrorCode), r.ActorType, r.ActorID, store.NullString(r.AppID), r.CreatedAt)
	}
	_, err := l.db.Exec(ctx, `INSERT INTO request_record
		(id, owner_id, operation, method, route, status, duration_ms, error_code, actor_type, actor_id, app_id,
		created_at)
		VALUES `+strings.Repeat(row+", ", len(batch)-1)+row+" ON CONFLICT DO NOTHING", args...)
	return err
}

// Retention is how long records are kept.
const Retention = 30 * 24 * time.Hour

// Sweep removes at most limit records that are older than Retention.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "requestlog.Sweep")
	return db.Exec(ctx, `DELETE FROM request_record WHERE (owner_id, created_at, id) IN
		(SELECT r.owner_id, r.created_at, r.id FROM users u JOIN request_record r ON r.owner_id = u.id
		AND r.created_at < ? LIMIT ?)`,
		db.Now().Add(-Retention), limit)
}
