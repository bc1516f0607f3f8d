package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// someDrift is many times what clocks differ by that NTP sets.
	someDrift = time.Second
	// muchDrift is what the lease of a delivery has left when its attempt took longest: beyond it a
	// process takes what another one is at work on.
	muchDrift = 10 * time.Second
)

// checkClock compares the clock of this machine with that of the database, with the newest instant that
// is stored, and with the last sweep.
func checkClock(ctx context.Context, db *store.DB) finding {
	ahead, err := db.ClockAhead(ctx)
	if err != nil {
		return fail(err.Error(), lookAtTheDatabase)
	}
	newest, err := newestInstant(ctx, db)
	if err != nil {
		return fail(err.Error(), lookAtTheDatabase)
	}
	var jump *retention.Jump
	if newest != 0 {
		if err := retention.Holds(ctx, db); errors.As(err, &jump) {
			return fail("nothing is swept: "+jump.Error(),
				"set the clock right, or start waymark serve once with --confirm-clock where no executor ran for more than a day")
		} else if err != nil {
			return fail(err.Error(), lookAtTheDatabase)
		}
	}
	found := judgeClock(newest.Sub(db.Now()), ahead)
	if found.grade == fine && db.Dialect().Name != "sqlite" {
		found.found = "agrees with that of the database, " + found.found
	}
	return found
}

// judgeClock judges how far a clock is behind the newest instant that is stored, and how far ahead of that of
// the database.
func judgeClock(behind, ahead time.Duration) finding {
	const advice = "set the clocks of all machines by NTP"
	for _, bound := range []struct {
		drift time.Duration
		judge func(found, advice string) finding
	}{{muchDrift, fail}, {someDrift, warn}} {
		switch {
		case behind > bound.drift:
			return bound.judge(fmt.Sprintf("this clock is %s behind the newest instant that is stored", behind.Round(time.Millisecond)), advice)
		case ahead.Abs() > bound.drift:
			return bound.judge(fmt.Sprintf("this clock and that of the database differ by %s", ahead.Abs().Round(time.Millisecond)), advice)
		}
	}
	return ok("not behind what is stored")
}

// newestInstant returns the newest of the instants that processes store as they work, 0 without any.
func newestInstant(ctx context.Context, db *store.DB) (newest clock.Instant, err error) {
	for _, read := range []func(context.Context) (clock.Instant, error){
		func(ctx context.Context) (clock.Instant, error) { return retention.Last(ctx, db) },
		func(ctx context.Context) (clock.Instant, error) { return route.Newest(ctx, db) },
		func(ctx context.Context) (clock.Instant, error) { return loaded.Events.Newest(ctx, db) },
	} {
		at, err := read(ctx)
		if err != nil {
			return 0, err
		}
		newest = max(newest, at)
	}
	return newest, nil
}
