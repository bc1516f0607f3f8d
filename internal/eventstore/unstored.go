package eventstore

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Unstored returns how many events of an app were counted and not stored on the UTC days
// from that of an instant to that of another one.
func Unstored(ctx context.Context, q store.Q, appID string, from, to clock.Instant) (_ int64, err error) {
	defer fault.Wrap(&err, "eventstore.Unstored(%s, %s, %s)", appID, from, to)
	return store.One(ctx, q, store.Value[int64],
		"SELECT COALESCE(SUM(clicks), 0) FROM event_unstored WHERE app_id = ? AND day >= ? AND day <= ?", appID, utcDay(from),
		utcDay(to))
}

// utcDay numbers the UTC days, from 1970 on.
func utcDay(at clock.Instant) int64 { return at.Unix() / (24 * 60 * 60) }
