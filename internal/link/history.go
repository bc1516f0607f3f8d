package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// HistoryEntry is one change of a link.
type HistoryEntry struct {
	ID        string        `json:"id" format:"uuid"`
	LinkID    string        `json:"linkId"`
	AppID     string        `json:"appId"`
	Action    string        `json:"action" enum:"created,updated,deleted,archived,restored,tags_replaced,routing_rules_replaced,template_selection_replaced,resynced"`
	Fields    []string      `json:"fields" doc:"The names of what changed."`
	Revision  string        `json:"revision" format:"uuid"`
	CreatedAt clock.Instant `json:"createdAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (HistoryEntry) SchemaName() string { return "LinkHistoryEntry" }

// Position implements op.Positioned.
func (e HistoryEntry) Position() cursor.Position { return cursor.Position{At: e.CreatedAt, ID: e.ID} }

// record adds an entry to the link's history, which outlives the link.
func record(ctx context.Context, tx *store.Tx, l *Link, action string, fields []string) error {
	names, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return tx.Send(ctx, `INSERT INTO link_history (id, link_id, app_id, action, fields, revision, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		ids.New(), l.ID, l.AppID, action, string(names), l.Revision, tx.Now)
}

func history(ctx context.Context, c *op.Call, in *linkInput, w op.Window) ([]HistoryEntry, error) {
	var where store.Where
	where.And("app_id = ? AND link_id = ?", c.AppID, in.LinkID)
	order := w.Keyset(&where, "created_at", "id", true)
	return store.All(ctx, c.DB, func(r store.Row) (e HistoryEntry, err error) {
		var fields string
		if err := r.Scan(&e.ID, &e.LinkID, &e.AppID, &e.Action, &fields, &e.Revision, &e.CreatedAt); err != nil {
			return e, err
		}
		return e, json.Unmarshal([]byte(fields), &e.Fields)
	}, "SELECT id, link_id, app_id, action, fields, revision, created_at FROM link_history"+where.String()+order,
		where.Args(w.Limit)...)
}

// appOfHistory implements op.AppFinder, also for a link that is gone.
func appOfHistory(ctx context.Context, q store.Q, id string) (string, error) {
	app, err := AppOf(ctx, q, id)
	if !errors.Is(err, store.ErrNotFound) {
		return app, err
	}
	return store.One(ctx, q, store.Value[string], `SELECT app_id FROM link_history WHERE link_id = ?
		AND action = 'deleted'`, id)
}

// gone selects the last entries of the links that were deleted longest ago.
const gone = `SELECT app_id, link_id, created_at, id FROM link_history WHERE action = 'deleted' AND created_at <= ?
	ORDER BY created_at, link_id LIMIT ?`

// Sweep purges the history of links that were deleted longer ago than
// dependents.Retention. It deletes at most limit entries that record a deletion
// and at most limit others, and returns the larger number; fewer than limit
// means that nothing is left.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "link.Sweep")
	before := db.Now().Add(-dependents.Retention)
	others, err := db.Exec(ctx, `DELETE FROM link_history WHERE (app_id, link_id, created_at, id) IN (
		SELECT h.app_id, h.link_id, h.created_at, h.id FROM (`+gone+`) AS gone
		JOIN link_history h ON h.app_id = gone.app_id AND h.link_id = gone.link_id WHERE h.action <> 'deleted' LIMIT ?)`, before, limit, limit)
	if err != nil {
		return 0, fmt.Errorf("sweep link history: %w", err)
	}
	if others == int64(limit) { // the last entry goes last: the others are found through it
		return others, nil
	}
	last, err := db.Exec(ctx, "DELETE FROM link_history WHERE (app_id, link_id, created_at, id) IN ("+gone+")", before,
		limit)
	if err != nil {
		return others, fmt.Errorf("sweep link history: %w", err)
	}
	return last, nil
}
