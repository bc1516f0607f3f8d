package eventstore_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// slow is an engine that counts no period within the deadline that is longer than most.
type slow struct {
	eventstore.Engine
	most time.Duration
}

func (s slow) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) ([][]eventstore.Row, error) {
	if f.End.Sub(f.Start) > s.most {
		return nil, turns.ErrSlow
	}
	return s.Engine.Count(ctx, f, by...)
}

// Totals asks about shorter periods where an engine does not keep the deadline, down to
// some that no engine is too slow for.
func TestTotalsOfSlowEngine(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	e := database.Open(db)
	const all = 100
	events := make([]clicklog.Event, all)
	for i := range events {
		events[i] = clicklog.Event{ID: int64(i), At: storetest.Start.Add(time.Duration(i) * 13 * time.Hour),
			Type: clicklog.Click, Device: []string{"ios", "bot"}[i%2], Link: clicklog.Link{ID: "one", AppID: "a"}}
	}
	if err := e.Append(t.Context(), &clicklog.Batch{Events: events}); err != nil {
		t.Fatal(err)
	}
	now := storetest.Start.Add(400 * 24 * time.Hour)
	totals, err := eventstore.Totals(t.Context(), slowUntil{slow{e, 25 * time.Hour}, now}, now)
	if err != nil || totals["a"] != all {
		t.Errorf("%v, %v; want %d", totals, err, all)
	}
	if _, err := eventstore.Totals(t.Context(), slow{e, time.Minute}, now); !errors.Is(err, turns.ErrSlow) {
		t.Errorf("an engine that is too slow for everything: %v", err)
	}
}

// LastInstant comes after all events.
func TestLastInstant(t *testing.T) {
	if want := clock.At(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)); eventstore.LastInstant != want {
		t.Errorf("%d, want %d", eventstore.LastInstant, want)
	}
}

// slowUntil is as slow as slow until an instant, after which there are no events.
type slowUntil struct {
	slow
	until clock.Instant
}

func (s slowUntil) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) ([][]eventstore.Row,
	error) {
	if f.Start >= s.until {
		return s.Engine.Count(ctx, f, by...)
	}
	return s.slow.Count(ctx, f, by...)
}

// A copy takes all events of all apps, tells after each part how far it is, and goes on from there;
// what was copied and not kept is not there twice.
func TestCopy(t *testing.T) {
	open := func() eventstore.Engine {
		return database.Open(storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{}))
	}
	few, many, to := open(), open(), open()
	events := make([]clicklog.Event, 8192+3)
	for i := range events {
		events[i] = clicklog.Event{ID: int64(i + 1), At: storetest.Start.Add(time.Duration(i) * time.Second), Type: clicklog.Click,
			Link: clicklog.Link{ID: "one", AppID: []string{"a", "b", "c"}[i%3]}}
	}
	if err := errors.Join(few.Append(t.Context(), &clicklog.Batch{Events: events[:4]}),
		many.Append(t.Context(), &clicklog.Batch{Events: events})); err != nil {
		t.Fatal(err)
	}
	state, ends := eventstore.Copying{ID: "copy"}, errors.New("the process ends")
	for _, c := range []struct {
		want error
		told []int64
	}{{ends, []int64{8192}}, {nil, []int64{8192, 8195}}, {nil, nil}} {
		var told []int64
		err := eventstore.Copy(t.Context(), many, to, state, func(_ context.Context, s eventstore.Copying) error {
			if told = append(told, s.Events); c.want == nil {
				state = s
			}
			return c.want
		})
		if !errors.Is(err, c.want) || !slices.Equal(told, c.told) {
			t.Errorf("%v: kept after %v events, want %v", err, told, c.told)
		}
		totals, err := eventstore.Totals(t.Context(), to, storetest.Start.Add(24*time.Hour))
		if want := map[string]int64{"a": 2732, "b": 2732, "c": 2731}; err != nil || c.want == nil && !maps.Equal(totals, want) {
			t.Errorf("%v, %v; want %v", totals, err, want)
		}
	}
	storetest.Faulty(t, func(ctx context.Context) error {
		return eventstore.Copy(ctx, few, to, eventstore.Copying{ID: "few"}, func(context.Context, eventstore.Copying) error { return nil })
	})
}
