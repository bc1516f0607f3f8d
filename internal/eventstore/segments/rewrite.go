package segments

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// rewrite replaces segments by ones with those of their events that stay, and returns
// how many do not. The new ones are files, one for each month; or one young segment.
// Reading and writing happens before the transaction.
func (e *Engine) rewrite(ctx context.Context, old []entry, young bool, stays func(*segment.Event) bool) (
	gone int64, err error) {
	v, err := e.openAll(ctx, old)
	if err != nil {
		return 0, err
	}
	defer v.close()
	w := &writing{e: e, created: old[0].created, files: map[month]*sealed{}}
	defer w.close()
	for i := range old {
		gone += old[i].events
		w.created = min(w.created, old[i].created)
	}
	for event, err := range merged(v.groups(), key{app: -1}) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && stays(event) {
			gone--
			err = w.add(event, young)
		}
		if err != nil {
			return 0, err
		}
	}
	drafts, err := w.drafts(ctx, old)
	if err == nil {
		err = e.replace(ctx, old, drafts)
	}
	if err != nil {
		return 0, errors.Join(err, e.abandon(ctx, drafts))
	}
	return gone, nil
}

// writing is the segments that take the place of others.
type writing struct {
	e       *Engine
	created clock.Instant
	// young is the new segment unless there are files.
	young *composer
	// files are by month. last is the one of the last event, whose month goes from first
	// to before end.
	files      map[month]*sealed
	last       *sealed
	first, end clock.Instant
}

// month is a month of UTC, counted from the year 0.
type month int

func monthOf(at clock.Instant) month {
	t := at.Time()
	return month(t.Year()*12 + int(t.Month()) - 1)
}

// start is when the month begins.
func (m month) start() clock.Instant {
	return clock.At(time.Date(int(m)/12, time.Month(int(m)%12+1), 1, 0, 0, 0, 0, time.UTC))
}

func (w *writing) add(event *segment.Event, young bool) (err error) {
	if young {
		if w.young == nil {
			w.young = w.e.composer()
			w.young.buf.Reset()
			w.young.begin(&w.young.buf)
		}
		return w.young.add(event)
	}
	if w.last == nil || event.At < w.first || event.At >= w.end {
		m := monthOf(event.At)
		if w.files[m] == nil {
			if w.files[m], err = w.e.seal(); err != nil {
				delete(w.files, m)
				return err
			}
		}
		w.last, w.first, w.end = w.files[m], m.start(), (m + 1).start()
	}
	return w.last.add(event)
}

// drafts ends the segments that take the place of old ones. Files are stored. After an
// error it returns those that are.
func (w *writing) drafts(ctx context.Context, old []entry) (all []draft, err error) {
	if w.young != nil {
		d := draft{}
		d.entry, err = w.young.end()
		d.young, d.data = true, w.young.buf.Bytes()
		all = append(all, d)
	}
	for _, f := range w.files {
		var d draft
		if err == nil {
			d, err = f.store(ctx, w.e, old)
		}
		if err == nil {
			all = append(all, d)
		}
	}
	for i := range all {
		all[i].created = w.created
	}
	return all, err
}

// close closes the files, which have no other name than that of the store.
func (w *writing) close() {
	if w.young != nil {
		w.e.again(w.young)
	}
	for _, f := range w.files {
		f.file.Close()
		w.e.again(f.composer)
	}
}

// lost reports whether a change came too late, which takes nothing from anybody: what
// there is to do is looked up again.
func lost(err error) bool { return errors.Is(err, errLost) || errors.Is(err, errGone) }
