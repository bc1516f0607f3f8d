package op

import (
	"context"
	"reflect"

	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/store"
)

// Read declares an operation that answers one resource.
func Read[In, Out any](s *Service, o Op, handle func(context.Context, *Call, *In) (Item[Out], error)) {
	s.add(&row{
		Op: o, input: s.inputOf(reflect.TypeFor[In](), o), data: reflect.TypeFor[Out](),
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
// returns up to Window.Limit rows; In embeds or holds no paging parameters,
// the pipeline adds limit and cursor.
func List[In any, T Positioned](s *Service, o Op, handle func(context.Context, *Call, *In, Window) ([]T, error)) {
	spec := s.inputOf(reflect.TypeFor[In](), o)
	spec.addPaging(s.registry)
	s.add(&row{
		Op: o, list: true, input: spec, data: reflect.TypeFor[T](),
		run: func(c *callContext) (outcome, error) {
			in, err := decode[In](c)
			if err != nil {
				return outcome{}, err
			}
			window, limit, err := c.window()
			if err != nil {
				return outcome{}, err
			}
			items, err := handle(c.ctx, &c.Call, in, window)
			if err != nil {
				return outcome{}, err
			}
			page := &pagination{}
			if len(items) > limit {
				items = items[:limit]
				next := c.sign(items[limit-1].Position())
				page.HasMore, page.NextCursor = true, &next
			}
			return outcome{data: items, pagination: page}, nil
		},
	})
}

// Write declares a mutation. The handler runs in the one transaction that also
// holds its audit event and its receipt, and may run again when the
// transaction lost a race.
func Write[In, Out any](s *Service, o Op, handle func(context.Context, *Call, *store.Tx, *In) (Item[Out], error)) {
	s.add(&row{
		Op: o, input: s.inputOf(reflect.TypeFor[In](), o), data: reflect.TypeFor[Out](),
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

func (i Item[T]) outcome() outcome {
	o := outcome{data: i.Data, ref: i.Ref, etag: i.ETag, location: i.Location, retryAfter: i.RetryAfter, secret: i.Secret}
	if o.etag == "" {
		o.etag = i.Ref.Revision
	}
	if _, nothing := any(i.Data).(Nothing); nothing {
		o.data, o.etag = nil, ""
	}
	return o
}

// window returns the part of the list that the query asks for and how many
// rows to show of it.
func (c *callContext) window() (Window, int, error) {
	limit := defaultLimit
	if v, ok := c.query["limit"]; ok {
		limit = int(v.(float64))
	}
	w := Window{Limit: limit + 1}
	if text, ok := c.query["cursor"]; ok {
		p, err := c.service.Cursors.Open(text.(string), c.listBinding(), c.Now)
		if err != nil {
			return w, 0, invalidCursor()
		}
		w.After = &p
	}
	return w, limit, nil
}

func (c *callContext) sign(p cursor.Position) string {
	return c.service.Cursors.Sign(p, c.listBinding(), c.Now)
}
