package scan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// unitRows is how many rows a unit of Turns may have, if it has several row groups.
const unitRows = 256 << 10

// question is a Query with what is known before events are read.
type question struct {
	*eventstore.Query
	chooser  *chooser
	grouping *grouping
	total    *total
	// columns are those that are read of row groups with chosen rows.
	columns segment.Columns
}

// Count answers eventstore.Engine's Count from row groups, which must hold every event
// once. Row groups without events of the app and period are not read.
func Count(ctx context.Context, turn *eventstore.Turn, q eventstore.Query, links *Links, groups []Group) (
	[]eventstore.Row, error) {
	if n := len(q.Bounds); q.By == eventstore.Time && (n < 2 || q.Start < q.Bounds[0] || q.End > q.Bounds[n-1]) {
		return nil, errors.New("count events by time: the period is not within the bounds")
	}
	states, err := links.Of(ctx, q.AppID)
	if err != nil {
		return nil, err
	}
	var asked *question
	if err := turn.Each(ctx, 1, func(int, int) (err error) {
		asked, err = newQuestion(&q, states)
		return err
	}); err != nil {
		return nil, err
	}
	if err := asked.count(ctx, turn, groups); err != nil {
		return nil, err
	}
	return asked.total.rows(&q), nil
}

func newQuestion(q *eventstore.Query, states *States) (*question, error) {
	g, err := newGrouping(q.By)
	if err != nil {
		return nil, err
	}
	columns := segment.Of(segment.At, segment.Type, segment.Install, g.column)
	if q.Visitors {
		columns |= segment.Of(segment.Visitor)
	}
	if q.Links {
		columns |= segment.Of(segment.Link)
	}
	return &question{q, newChooser(&q.Filter, states), g, newTotal(q, g, states), columns}, nil
}

// count adds the events of row groups to the total.
func (a *question) count(ctx context.Context, turn *eventstore.Turn, groups []Group) error {
	list := spans(&a.Filter, a.chooser.states.App, groups)
	var eras, large []era
	if a.Visitors {
		eras = byDays(&a.Filter, list)
	} else {
		eras = each(&a.Filter, list)
	}
	small := eras[:0]
	for _, e := range eras {
		if len(e.groups) > 1 && e.rows > unitRows {
			large = append(large, e)
		} else {
			small = append(small, e)
		}
	}
	err := turn.Each(ctx, len(small), func(_, i int) error { return a.countEra(&small[i]) })
	for i := range large {
		if err == nil {
			err = a.countLarge(ctx, turn, &large[i])
		}
	}
	return err
}

// counters keeps counters for their memory.
var counters = sync.Pool{New: func() any { return &counter{hashes: *newNumbering()} }}

// countEra counts an era in one unit.
func (a *question) countEra(e *era) (err error) {
	defer recovered(&err)
	c := a.begin()
	for _, g := range e.groups {
		if err := c.scan(g, e, len(e.groups) == 1); err != nil {
			return err
		}
	}
	c.end()
	return nil
}

// countLarge counts an era in one unit for each row group, one after the other.
func (a *question) countLarge(ctx context.Context, turn *eventstore.Turn, e *era) error {
	c := a.begin()
	for _, g := range e.groups {
		err := turn.Each(ctx, 1, func(int, int) (err error) {
			defer recovered(&err)
			return c.scan(g, e, false)
		})
		if err != nil {
			return err
		}
	}
	c.end()
	return nil
}

// begin returns a counter. One that fails is not used again.
func (a *question) begin() *counter {
	c := counters.Get().(*counter)
	c.asked = a
	return c
}

// recovered makes a panic an error: the rows of a damaged segment may be in any order.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", segment.ErrDamaged, p)
	}
}
