package op

import (
	"context"
	"reflect"

	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/store"
)

// Read declares an operation that answers one resource.
func Read[In, Out any](p *Pipeline, o Op, handle func(context.Context, *Call, *In) (Item[Out], error)) {
	p.add(&row{
		Op: o, input: p.inputOf(reflect.TypeFor[In](), o), data: reflect.TypeFor[Out](),
		run: func(c *callContext) (outcome, error) {
			in, err := decode[In](c)
			if err != nil {
				return outcome{}, err
			}
			item, err := handle(c.ctx, &c.Call, in)
			return item.outcome(), err
		},
	})
}

// List declares an operation that answers one page of a list. The handler
// returns up to Window.Limit rows; In declares no paging parameters: the
// pipeline adds limit and cursor.
func List[In any, T Positioned](p *Pipeline, o Op, handle func(context.Context, *Call, *In, Window) ([]T, error)) {
	ListOrFile(p, o, nil, nil, handle)
}

// ListOrFile declares a list that a client may also get as one whole file, of
// one of the given media types. file returns nil when the client asks for a
// page.
func ListOrFile[In any, T Positioned](p *Pipeline, o Op, types []string,
	file func(context.Context, *Call, *In) (*File, error),
	handle func(context.Context, *Call, *In, Window) ([]T, error)) {
	spec := p.inputOf(reflect.TypeFor[In](), o)
	spec.addPaging(o.PageLimit)
	p.add(&row{
		Op: o, list: true, paged: true, input: spec, data: reflect.TypeFor[T](), types: types,
		run: func(c *callContext) (outcome, error) {
			in, err := decode[In](c)
			if err != nil {
				return outcome{}, err
			}
			if file != nil {
				if f, err := file(c.ctx, &c.Call, in); err != nil || f != nil {
					return outcome{file: f}, c.refusePaging(err)
				}
			}
			window, err := c.window()
			if err != nil {
				return outcome{}, err
			}
			items, err := handle(c.ctx, &c.Call, in, window)
			if err != nil {
				return outcome{}, err
			}
			items, last := Cut(window, items)
			page, shown, err := textOf(items)
			if err != nil {
				return outcome{}, err
			}
			if shown < len(items) {
				p := items[shown-1].Position()
				last = &p
			}
			return outcome{text: page, pagination: c.paginate(last)}, nil
		},
	})
}

// Page is one page of a list whose data says more than its rows.
type Page[T any] struct {
	Data T
	// Last is the position of the page's last row, nil when no row follows it.
	Last *cursor.Position
}

// Paged declares an operation that answers one page of a list as a part of its
// data. The handler reads up to Window.Limit rows and shows what Cut leaves of
// them; In declares no paging parameters, as for List.
func Paged[In, Out any](p *Pipeline, o Op, handle func(context.Context, *Call, *In, Window) (Page[Out], error)) {
	spec := p.inputOf(reflect.TypeFor[In](), o)
	spec.addPaging(o.PageLimit)
	p.add(&row{
		Op: o, paged: true, input: spec, data: reflect.TypeFor[Out](),
		run: func(c *callContext) (outcome, error) {
			in, err := decode[In](c)
			if err != nil {
				return outcome{}, err
			}
			window, err := c.window()
			if err != nil {
				return outcome{}, err
			}
			page, err := handle(c.ctx, &c.Call, in, window)
			return outcome{data: page.Data, pagination: c.paginate(page.Last)}, err
		},
	})
}

// Write declares a mutation. The handler runs in the one transaction that also
// holds its audit event and its receipt, and may run again when the
// transaction lost a race.
func Write[In, Out any](p *Pipeline, o Op, handle func(context.Context, *Call, *store.Tx, *In) (Item[Out], error)) {
	p.add(&row{
		Op: o, input: p.inputOf(reflect.TypeFor[In](), o), data: reflect.TypeFor[Out](),
		decode: func(c *callContext) (any, error) { return decode[In](c) },
		run: func(c *callContext) (outcome, error) {
			in, err := decode[In](c)
			if err != nil {
				return outcome{}, err
			}
			item, err := handle(c.ctx, &c.Call, c.tx, in)
			return item.outcome(), err
		},
	})
}

// Staged declares a mutation with an effect outside the database, which must
// happen before the transaction and outlive a crash between the two: stage
// first leaves a durable intent in a transaction of its own, then does the
// effect, and commit ends the intent together with audit and receipt. When the
// commit never comes, a sweep must undo or finish the stage. A repeated call
// runs its stage again and should find the earlier intent (Call.Intent).
func Staged[In, Stage, Out any](p *Pipeline, o Op, stage func(context.Context, *Call, *In) (Stage, error),
	commit func(context.Context, *Call, *store.Tx, *In, Stage) (Item[Out], error)) {
	type staged struct {
		in    *In
		stage Stage
	}
	p.add(&row{
		Op: o, input: p.inputOf(reflect.TypeFor[In](), o), data: reflect.TypeFor[Out](),
		stage: func(c *callContext) error {
			in, err := decode[In](c)
			if err != nil {
				return err
			}
			left, err := stage(c.ctx, &c.Call, in)
			c.staged = staged{in, left}
			return err
		},
		run: func(c *callContext) (outcome, error) {
			left := c.staged.(staged)
			item, err := commit(c.ctx, &c.Call, c.tx, left.in, left.stage)
			return item.outcome(), err
		},
	})
}

// Bytes declares a read that answers a file of one of the given media types
// instead of JSON. A query that breaks a rule of the domain is refused with
// 422.
func Bytes[In any](p *Pipeline, o Op, types []string, handle func(context.Context, *Call, *In) (File, error)) {
	p.add(&row{
		Op: o, input: p.inputOf(reflect.TypeFor[In](), o), types: types,
		run: func(c *callContext) (outcome, error) {
			in, err := decode[In](c)
			if err != nil {
				return outcome{}, err
			}
			file, err := handle(c.ctx, &c.Call, in)
			return outcome{file: &file, ref: file.Ref}, err
		},
	})
}
