package segments

import (
	"cmp"
	"context"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Append implements eventstore.Engine: in one transaction, the batch becomes a young
// segment, and its logs are loaded that far.
func (e *Engine) Append(ctx context.Context, b *clicklog.Batch) (err error) {
	defer fault.Wrap(&err, "segments.Append(%d events)", len(b.Events))
	c := e.composer()
	defer e.again(c)
	return e.DB.InTx(ctx, func(tx *store.Tx) error {
		fresh, err := eventstore.Advance(ctx, tx, e.Guard, b)
		if err != nil {
			return err
		}
		c.rows = c.rows[:0]
		numbers, err := e.numbers.In(ctx, tx)
		if err != nil {
			return err
		}
		for _, events := range fresh {
			if c.rows, err = number(ctx, numbers, events, c.rows); err != nil {
				return err
			}
		}
		if len(c.rows) == 0 {
			return nil
		}
		d, err := c.young()
		if err != nil {
			return err
		}
		d.created = tx.Now
		return add(ctx, tx, &d)
	})
}

// composer returns one that was used, or a new one.
func (e *Engine) composer() *composer {
	select {
	case c := <-e.composers:
		return c
	default:
		return newComposer()
	}
}

// again keeps a composer to be used again.
func (e *Engine) again(c *composer) {
	select {
	case e.composers <- c:
	default:
	}
}

// number adds events to rows, as rows of a segment.
func number(ctx context.Context, n *eventstore.Numbering, events []clicklog.Event, rows []segment.Event) (
	[]segment.Event, error) {
	for i := range events {
		e := &events[i]
		app, err := n.App(ctx, e.Link.AppID)
		if err != nil {
			return rows, err
		}
		link, err := n.Link(ctx, app, &e.Link)
		if err != nil {
			return rows, err
		}
		rows = append(rows, segment.Event{
			App: app, At: e.At, ID: segment.MakeID(e.ID),
			Type: string(eventstore.Known(eventstore.Types, e.Type)), Link: link,
			Visitor: e.Visitor, Install: e.Install, Device: eventstore.Clean(e.Device), OS: eventstore.Clean(e.OS),
			Browser: eventstore.Clean(e.Browser), Source: eventstore.Clean(e.Source), Country: eventstore.Country(e.Country),
			Referrer: eventstore.Clean(e.ReferrerHost), Rule: eventstore.Clean(e.RuleID),
			Destination: eventstore.Known(eventstore.Destinations, e.Destination),
		})
	}
	return rows, nil
}

// compare puts rows into the order of a segment, which is by what identifies an event.
func compare(a, b *segment.Event) int {
	return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.At, b.At), cmp.Compare(a.ID.Int(), b.ID.Int()))
}
