// Package retention decides whether what is past its retention may be removed. A clock
// that jumps ahead by years would have everything removed at once. So rounds of sweeps
// are noted, and nothing is removed while the last one is more than a day ago: until
// the clock is set right, or an operator confirms that it is. How long what is kept is
// decided by the packages that keep it.
package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// maxGap is how far the clock may move from one round of sweeps to the next.
	maxGap = 24 * time.Hour
	// noteEvery is how often a round is noted.
	noteEvery = 10 * time.Minute
	// sweptAt names the instant of the last round that was noted.
	sweptAt = "swept_at"
)

// Jump is the refusal to remove anything: the clock has moved more than a day since
// the last round of sweeps.
type Jump struct{ Last, Now clock.Instant }

// Error implements error.
func (j *Jump) Error() string {
	return fmt.Sprintf("the last sweep was at %s, and the clock shows %s", j.Last, j.Now)
}

// Begin notes that a round of sweeps begins, or returns a *Jump when none may begin
// and the operator has not confirmed the clock. After a clock has moved back by more
// than a day, the next move is measured from there.
func Begin(ctx context.Context, db *store.DB, confirmed bool) (err error) {
	defer fault.Wrap(&err, "retention.Begin(%t)", confirmed)
	now := db.Now()
	gap, err := gap(ctx, db, now)
	var jump *Jump
	if errors.As(err, &jump) && confirmed {
		err = nil
	}
	if err != nil || gap >= -maxGap && gap < noteEvery {
		return err
	}
	return store.SetInstallationValue(ctx, db, sweptAt, now.String())
}

// Holds returns a *Jump while nothing may be removed. Whoever removes something apart
// from the rounds of sweeps asks before.
func Holds(ctx context.Context, db *store.DB) (err error) {
	defer fault.Wrap(&err, "retention.Holds")
	_, err = gap(ctx, db, db.Now())
	return err
}

// Last returns the instant of the last round of sweeps that was noted, 0 before the first.
func Last(ctx context.Context, db *store.DB) (_ clock.Instant, err error) {
	defer fault.Wrap(&err, "retention.Last")
	value, err := store.One(ctx, db, store.Value[string], "SELECT value FROM installation WHERE name = ?", sweptAt)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return clock.Parse(value)
}

// gap returns for how long no round of sweeps has begun, with a *Jump when that is too
// long.
func gap(ctx context.Context, db *store.DB, now clock.Instant) (time.Duration, error) {
	value, err := db.InstallationValue(ctx, sweptAt, now.String())
	if err != nil {
		return 0, err
	}
	last, err := clock.Parse(value)
	if err != nil {
		return 0, err
	}
	gap := now.Sub(last)
	if gap > maxGap {
		err = &Jump{Last: last, Now: now}
	}
	return gap, err
}
