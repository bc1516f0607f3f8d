package eventstore

import (
	"context"
	"strconv"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Text returns the number of a referrer host or a rule id, 0 for "". The number is
// remembered for a UTC day; its row notes the last such day, by which SweepTexts goes.
func (n *Numbering) Text(ctx context.Context, value string) (int64, error) {
	if value = Clean(value); value == "" {
		return 0, nil
	}
	today := utcDay(n.tx.Now)
	n.key = append(strconv.AppendInt(n.key[:0], today, 10), value...)
	if no, ok := n.have(text, n.key); ok {
		return no, nil
	}
	no, err := n.number(ctx, text, string(n.key), []any{value}, []any{today})
	if err == nil {
		err = n.tx.Send(ctx, "UPDATE event_text SET used_on = ? WHERE no = ? AND used_on < ?", today, no, today)
	}
	return no, err
}

// SweepTexts deletes up to limit of the texts that were last used before the UTC day of an
// instant: all events with them are from before it.
func SweepTexts(ctx context.Context, db *store.DB, before clock.Instant, limit int) (err error) {
	defer fault.Wrap(&err, "eventstore.SweepTexts(%s)", before)
	if _, err := db.Exec(ctx, "UPDATE event_text SET used_on = ? WHERE used_on = 0", utcDay(db.Now())); err != nil {
		return err
	}
	old := min(before, db.Now().Add(-Retention))
	_, err = db.Exec(ctx, "DELETE FROM event_text WHERE no IN (SELECT no FROM event_text WHERE used_on < ? "+
		"ORDER BY used_on LIMIT ?)", utcDay(old), limit)
	return err
}
