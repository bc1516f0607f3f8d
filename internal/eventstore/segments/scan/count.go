package scan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/turns"
)

// unitRows is how many rows a unit of Turns may have, if it has several row groups.
const unitRows = 256 << 10

// question is what Count is asked, with what is known before events are read.
type question struct {
	chooser *chooser
	parts   []part
	// columns are those that are read of row groups with chosen rows.
	columns segment.Columns
	// visitors tells that a part counts them.
	visitors bool
}

// part is a grouping and what was found for it.
type part struct {
	*eventstore.Grouping
	grouping *grouping
	total    *total
}

// Count answers eventstore.Engine's Count from row groups, which must hold every event
// once. Row groups without events of the app and period are not read.
func Count(ctx context.Context, turn *turns.Turn, f eventstore.Filter, by []eventstore.Grouping, links *Links,
	groups []Group) ([][]eventstore.Row, error) {
	for _, g := range by {
		if n := len(g.Bounds); g.By == eventstore.Time && (n < 2 || f.Start < g.Bounds[0] || f.End > g.Bounds[n-1]) {
			return nil, errors.New("count events by time: the period is not within the bounds")
		}
	}
	states, err := links.Of(ctx, f.AppID)
	if err != nil {
		return nil, err
	}
	var asked *question
	if err := turn.Each(ctx, 1, func(int, int) (err error) {
		asked, err = newQuestion(&f, by, states)
		return err
	}); err != nil {
		return nil, err
	}
	if err := asked.count(ctx, turn, groups); err != nil {
		return nil, err
	}
	answers := make([][]eventstore.Row, len(by))
	for i := range asked.parts {
		answers[i] = asked.parts[i].total.rows(&by[i])
	}
	return answers, nil
}

func newQuestion(f *eventstore.Filter, by []eventstore.Grouping, states *States) (*question, error) {
	a := &question{chooser: newChooser(f, states), columns: segment.Of(segment.At, segment.Type, segment.Install)}
	for i := range by {
		g, err := newGrouping(by[i].By)
		if err != nil {
			return nil, err
		}
		a.parts = append(a.parts, part{&by[i], g, newTotal(&by[i], g, states)})
		a.columns |= segment.Of(g.column)
		if by[i].Visitors {
			a.visitors = true
			a.columns |= segment.Of(segment.Visitor)
		}
		if by[i].Links {
			a.columns |= segment.Of(segment.Link)
		}
	}
	return a, nil
}

// count adds the events of row groups to the totals.
func (a *question) count(ctx context.Context, turn *turns.Turn, groups []Group) error {
	f := a.chooser.Filter
	list := spans(f, a.chooser.states.App, groups)
	var eras, large []era
	if a.visitors {
		eras = byDays(f, list)
	} else {
		eras = each(f, list)
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
func (a *question) countLarge(ctx context.Context, turn *turns.Turn, e *era) error {
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
	for len(c.partial) < len(a.parts) {
		c.partial = append(c.partial, &partial{counter: c})
	}
	for i := range a.parts {
		c.partial[i].part = &a.parts[i]
	}
	return c
}

// recovered makes a panic an error: the rows of a damaged segment may be in any order.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", segment.ErrDamaged, p)
	}
}
