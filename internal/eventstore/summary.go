package eventstore

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// Totals are the counts of a summary (completions.md §7).
type Totals struct {
	Clicks int64
	// UniqueVisitors counts distinct visitor hashes over the clicks: exact
	// within a day, an estimate over days, as the hash changes daily.
	UniqueVisitors int64
	// IdentifiedClicks are clicks with a known install.
	IdentifiedClicks   int64
	AppOpens           int64
	ContentViews       int64
	LegacyContentLoads int64
	// ActiveLinks counts links with a click, deleted ones included.
	ActiveLinks int64
	// FirstEventAt and LastEventAt are over events of all types, nil when
	// there are none.
	FirstEventAt, LastEventAt *clock.Instant
}

// summary counts events; the conditions follow.
var summary = fmt.Sprintf(`SELECT count(CASE WHEN type = %[1]d THEN 1 END),
	count(DISTINCT CASE WHEN type = %[1]d THEN visitor END),
	count(CASE WHEN type = %[1]d AND install <> 0 THEN 1 END),
	count(CASE WHEN type = %[2]d THEN 1 END),
	count(CASE WHEN type = %[3]d THEN 1 END),
	count(CASE WHEN type = %[4]d THEN 1 END),
	min(at), max(at) FROM event`, typeClick, typeAppOpen, typeContentView, typeLegacyContentLoad)

// Summary counts the events that f chooses. An app without events, or that
// does not exist, has zeros.
func (s *Store) Summary(ctx context.Context, f Filter) (Totals, error) {
	w := f.where()
	t, err := store.One(ctx, s.db, func(r store.Row) (t Totals, err error) {
		err = r.Scan(&t.Clicks, &t.UniqueVisitors, &t.IdentifiedClicks, &t.AppOpens, &t.ContentViews,
			&t.LegacyContentLoads,
			&t.FirstEventAt, &t.LastEventAt)
		return t, err
	}, summary+w.String(), w.Args()...)
	if err == nil && t.Clicks > 0 {
		w.And("type = ?", typeClick)
		t.ActiveLinks, err = store.One(ctx, s.db, store.Value[int64],
			"SELECT count(DISTINCT link_id) FROM event_link WHERE no IN (SELECT link_no FROM event"+w.String()+")",
			w.Args()...)
	}
	if err != nil {
		return Totals{}, fmt.Errorf("summary of app %s from %s to %s: %w", f.AppID, f.Start, f.End, err)
	}
	return t, nil
}
