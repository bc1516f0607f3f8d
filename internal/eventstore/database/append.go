package database

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// columns of event, in the order of row.
const columns = "at, id, visitor, install, app_no, link_no, client_no, referrer_no, rule_no, type, destination, country"

// Multi-row inserts come in few sizes, so that few statements are prepared.
var chunks = []struct {
	rows  int
	query string
}{{100, insertOf(100)}, {10, insertOf(10)}, {1, insertOf(1)}}

func insertOf(rows int) string {
	values := "(" + store.Marks(strings.Count(columns, ",")+1) + ")"
	return "INSERT INTO event (" + columns + ") VALUES " + strings.Repeat(values+", ", rows-1) + values +
		" ON CONFLICT DO NOTHING"
}

// row is an event by numbers.
type row struct {
	e                                 *clicklog.Event
	app, link, client, referrer, rule int64
}

// Append adds events in one transaction, with how far their logs are loaded, which an
// engine that takes the place of this one knows then. Those that are there already, by
// app, instant and id, are left alone, so a batch may come any number of times.
func (s *Store) Append(ctx context.Context, b *clicklog.Batch) (err error) {
	defer fault.Wrap(&err, "append %d events", len(b.Events))
	return s.db.InTx(ctx, func(tx *store.Tx) error {
		fresh, err := eventstore.Advance(ctx, tx, s.guard, b)
		if err != nil {
			return err
		}
		numbers, err := s.numbers.In(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := number(ctx, numbers, slices.Concat(fresh...))
		if err != nil {
			return err
		}
		return insert(ctx, tx, rows)
	})
}

// number numbers events and puts them into the order of the table: neighbours
// go to the same page, and concurrent loaders meet in the same order.
func number(ctx context.Context, n *eventstore.Numbering, events []clicklog.Event) ([]row, error) {
	rows := make([]row, len(events))
	for i := range events {
		e := &events[i]
		r := row{e: e}
		var err error
		if r.app, err = n.App(ctx, e.Link.AppID); err != nil {
			return nil, err
		}
		if r.link, err = n.Link(ctx, r.app, &e.Link); err != nil {
			return nil, err
		}
		if r.client, err = n.Client(ctx, e); err != nil {
			return nil, err
		}
		if r.referrer, err = n.Text(ctx, e.ReferrerHost); err != nil {
			return nil, err
		}
		if r.rule, err = n.Text(ctx, e.RuleID); err != nil {
			return nil, err
		}
		rows[i] = r
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.app, b.app), cmp.Compare(a.e.At, b.e.At), cmp.Compare(a.e.ID, b.e.ID))
	})
	return rows, nil
}

func insert(ctx context.Context, tx *store.Tx, rows []row) error {
	var args []any
	for _, chunk := range chunks {
		for len(rows) >= chunk.rows {
			args = args[:0]
			for _, r := range rows[:chunk.rows] {
				e := r.e
				args = append(args, int64(e.At), e.ID, e.Visitor, e.Install, r.app, r.link, r.client, r.referrer,
					r.rule, eventstore.PlaceIn(eventstore.Types, e.Type),
					eventstore.PlaceIn(eventstore.Destinations, e.Destination), eventstore.Country(e.Country))
			}
			if _, err := tx.Exec(ctx, chunk.query, args...); err != nil {
				return err
			}
			rows = rows[chunk.rows:]
		}
	}
	return nil
}
