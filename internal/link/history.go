package link

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
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

// Position implements op.Positioned.
func (e HistoryEntry) Position() cursor.Position { return cursor.Position{At: e.CreatedAt, ID: e.ID} }

// record adds an entry to the link's history, which outlives the link.
func record(ctx context.Context, tx *store.Tx, l *Link, action string, fields []string) error {
	names, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO link_history (id, link_id, app_id, action, fields, revision, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		ids.New(), l.ID, l.AppID, action, string(names), l.Revision, tx.Now)
	return err
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
	}, "SELECT id, link_id, app_id, action, fields, revision, created_at FROM link_history"+where.String()+order, where.Args(w.Limit)...)
}

// appOfHistory implements op.AppFinder, also for a link that is gone: its id
// begins with its hostname, whose apps may have its history.
func appOfHistory(ctx context.Context, q store.Q, id string) (string, error) {
	app, err := AppOf(ctx, q, id)
	if err != store.ErrNotFound {
		return app, err
	}
	hostname, _, _ := strings.Cut(id, ":")
	return store.One(ctx, q, store.Value[string], `SELECT app_id FROM domain WHERE hostname = ?
		AND EXISTS (SELECT 1 FROM link_history h WHERE h.app_id = domain.app_id AND h.link_id = ?) LIMIT 1`, hostname, id)
}
