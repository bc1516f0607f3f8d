package segments

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/scan"
	"github.com/waymarkhq/waymark/internal/turns"
)

// view is all events of a period at one moment, in open segments.
type view struct {
	files []*openFile
	from  *openFiles
}

// view opens the segments with events from start on and before end. A segment
// that is gone before it is opened makes it start again, with a newer moment.
func (e *Engine) view(ctx context.Context, start, end clock.Instant) (*view, error) {
	const attempts = 10
	for range attempts {
		found, err := overlapping(ctx, e.DB.Long(), start, end)
		if err != nil {
			return nil, err
		}
		v, err := e.openAll(ctx, found)
		if !errors.Is(err, errGone) {
			return v, err
		}
	}
	return nil, fmt.Errorf("segments were replaced %d times before they were read: %w", attempts, turns.ErrBusy)
}

// openAll opens segments.
func (e *Engine) openAll(ctx context.Context, list []entry) (*view, error) {
	v := &view{from: e.open}
	for i := range list {
		f, err := e.open.get(ctx, &list[i])
		if err != nil {
			v.close()
			return nil, err
		}
		v.files = append(v.files, f)
	}
	return v, nil
}

// groups returns the row groups, those of each segment in their order.
func (v *view) groups() (all []scan.Group) {
	for _, f := range v.files {
		all = scan.Groups(all, f.File)
	}
	return all
}

// close ends the use of the segments.
func (v *view) close() {
	for _, f := range v.files {
		v.from.release(f)
	}
}
