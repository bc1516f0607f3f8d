package segments

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Sweep implements eventstore.Engine. Segments of which all events are that old go; one
// of which some are is rewritten.
func (e *Engine) Sweep(ctx context.Context, before clock.Instant, limit int64) (deleted int64, err error) {
	defer fault.Wrap(&err, "segments.Sweep(%s)", before)
	if err := eventstore.SweepLoaded(ctx, e.DB, before); err != nil {
		return 0, err
	}
	expired, err := entries(ctx, e.DB, "WHERE first_at < ? ORDER BY first_at, id", int64(before))
	var errs error
	for i := range expired {
		if err != nil || ctx.Err() != nil || deleted >= limit {
			break
		}
		s := expired[i : i+1]
		n, failure := s[0].events, error(nil)
		if s[0].last < before {
			failure = e.replace(ctx, s, nil)
		} else {
			n, failure = e.rewrite(ctx, s, s[0].young, func(event *segment.Event) bool { return event.At >= before })
		}
		switch {
		case failure == nil:
			deleted += n
		case lost(failure):
			return limit, nil // there may be more
		default: // and the next one
			errs = errors.Join(errs, failure)
		}
	}
	return deleted, errors.Join(err, errs)
}

// reading is how long a query that has begun before may still read what is erased.
const reading = 10 * time.Second

// Erase implements eventstore.Engine. Events that are appended meanwhile may stay.
func (e *Engine) Erase(ctx context.Context, x eventstore.Erasure) (deleted int64, gone clock.Instant, err error) {
	defer fault.Wrap(&err, "segments.Erase")
	var column segment.Column
	var values []int64
	switch {
	case x.Install != 0: // which events without an install have
		column, values = segment.Install, []int64{x.Install}
	case x.LinkID != "":
		column = segment.Link
		if values, err = store.All(ctx, e.DB, store.Value[int64], "SELECT no FROM event_link WHERE link_id = ?",
			x.LinkID); err != nil {
			return 0, 0, err
		}
	}
	if len(values) == 0 {
		return 0, e.DB.Now(), nil
	}
	// Merging keeps when the first event of a segment was appended, so that what was there
	// at the beginning is known among the segments of later looks.
	var latest clock.Instant
	clean := map[string]bool{}
	for first := true; ; first = false {
		manifest, err := entries(ctx, e.DB, "")
		if err != nil {
			return deleted, 0, err
		}
		if first {
			for i := range manifest {
				latest = max(latest, manifest[i].created)
			}
		}
		manifest = slices.DeleteFunc(manifest, func(s entry) bool { return clean[s.id] || s.created > latest })
		if len(manifest) == 0 {
			break
		}
		for i := range manifest {
			n, err := e.eraseFrom(ctx, &manifest[i], column, values)
			if err != nil && !lost(err) {
				return deleted, 0, err
			}
			if err == nil {
				clean[manifest[i].id] = true
				deleted += n
			}
		}
	}
	// The events may be in files that were replaced, and in some that a merge is about to
	// store in vain.
	due, err := store.One(ctx, e.DB, store.Value[clock.Instant], "SELECT coalesce(max(due_at), 0) FROM event_garbage")
	return deleted, max(e.DB.Now().Add(reading), due), err
}

// eraseFrom rewrites a segment without the events that have one of some values.
func (e *Engine) eraseFrom(ctx context.Context, s *entry, c segment.Column, values []int64) (int64, error) {
	f, err := e.open.get(ctx, s)
	if err != nil {
		return 0, err
	}
	defer e.open.release(f)
	found, err := has(ctx, f.File, c, values)
	if err != nil || !found {
		return 0, err
	}
	return e.rewrite(ctx, []entry{*s}, s.young, func(event *segment.Event) bool {
		v := event.Install
		if c == segment.Link {
			v = event.Link
		}
		return !slices.Contains(values, v)
	})
}

// has reports whether a column has one of some values. Its dictionaries tell.
func has(ctx context.Context, f *segment.File, c segment.Column, values []int64) (bool, error) {
	var b segment.Block
	for g := range f.Groups() {
		if err := f.Read(g, segment.Of(c), &b); err != nil || ctx.Err() != nil {
			return false, cmp.Or(err, ctx.Err())
		}
		if slices.ContainsFunc(b.Numbers(c), func(v int64) bool { return slices.Contains(values, v) }) {
			return true, nil
		}
	}
	return false, nil
}
