package op

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

const (
	defaultLimit = 50
	maxLimit     = 100
)

// Window is the part of a list that is asked for.
type Window struct {
	// Limit is how many rows to read: one more than are shown.
	Limit int
	// After is the last row shown before; nil at the start.
	After *cursor.Position
}

// Positioned is a row of a list. Its Position is where the list continues after
// it.
type Positioned interface{ Position() cursor.Position }

// Keyset adds the condition that continues a list ordered by two columns, and
// returns the ORDER BY and LIMIT that go with it. desc is the usual order.
func (w Window) Keyset(where *store.Where, at, id string, desc bool) (orderLimit string) {
	direction, compare := "DESC", "<"
	if !desc {
		direction, compare = "ASC", ">"
	}
	if w.After != nil {
		where.And("("+at+", "+id+") "+compare+" (?, ?)", w.After.At, w.After.ID)
	}
	return " ORDER BY " + at + " " + direction + ", " + id + " " + direction + " LIMIT ?"
}

// Choose is Keyset for a list with filters that may look at many rows to find few: it
// returns what follows FROM table. The rows are found before the first of them is
// returned, so that the search can be interrupted (store.DB.Long).
func (w Window) Choose(table string, where *store.Where, at, id string, desc bool) string {
	limited := w.Keyset(where, at, id, desc)
	order, _, _ := strings.Cut(limited, " LIMIT")
	return " WHERE " + id + " IN (SELECT " + id + " FROM " + table + where.String() + limited + ")" + order
}

// addPaging declares the parameters that every list has.
func (spec *inputSpec) addPaging(pageLimit int) {
	most := cmp.Or(pageLimit, maxLimit)
	limit := &schema.Schema{Type: schema.Integer, Minimum: schema.Of(1.0), Maximum: schema.Of(float64(most)),
		Default: float64(min(defaultLimit, most))}
	text := &schema.Schema{Type: schema.String, MaxLength: schema.Of(1024)}
	spec.parameters = append(spec.parameters,
		parameter{name: "limit", in: "query", schema: limit,
			doc: "How many rows a page has at most. It ends before that after about 1 MiB."},
		parameter{name: "cursor", in: "query", doc: "pagination.nextCursor of the page before, kept for 15 minutes.",
			schema: text})
}

// refusePaging returns err, or the refusal of paging parameters of a call that
// gets a whole file.
func (c *callContext) refusePaging(err error) error {
	for _, name := range []string{"limit", "cursor"} {
		if c.sent[name] && err == nil {
			return fault.InvalidQuery(name, fault.ReasonNotAllowed,
				"a file has everything; limit and cursor are not allowed with it")
		}
	}
	return err
}

// window returns the part of the list that the query asks for.
func (c *callContext) window() (Window, error) {
	w := Window{Limit: int(c.query["limit"].(float64)) + 1}
	if text, ok := c.query["cursor"]; ok {
		p, err := c.pipeline.Cursors.Open(text.(string), c.listBinding(), c.Now)
		if err != nil {
			return w, invalidCursor()
		}
		w.After = &p
	}
	return w, nil
}

// Cut returns the rows to show of those that were read for a window and, when more
// follow, the position of the last one shown.
func Cut[T Positioned](w Window, rows []T) (shown []T, last *cursor.Position) {
	if len(rows) < w.Limit {
		return rows, nil
	}
	shown = rows[:w.Limit-1]
	p := shown[len(shown)-1].Position()
	return shown, &p
}

// textOf returns the JSON array of the rows of a page, or of as many of them as it may
// have bytes, at least one.
func textOf[T any](rows []T) (array []byte, shown int, err error) {
	array = append(array, '[')
	for i, row := range rows {
		one, err := marshal(row)
		if err != nil {
			return nil, 0, err
		}
		if i > 0 {
			if len(array)+len(one)+len(`,]`) > pageBytes {
				return append(array, ']'), i, nil
			}
			array = append(array, ',')
		}
		array = append(array, one...)
	}
	return append(array, ']'), len(rows), nil
}

// paginate returns the pagination of a page that ends at last, nil at the end of the
// list.
func (c *callContext) paginate(last *cursor.Position) *pagination {
	if last == nil {
		return &pagination{}
	}
	next := c.pipeline.Cursors.Sign(*last, c.listBinding(), c.Now)
	return &pagination{HasMore: true, NextCursor: &next}
}

// listBinding is everything that a cursor is bound to: the caller, the list,
// its filters, order and limit. A default that is sent explicitly makes no
// difference, nor does the spelling of a value.
func (c *callContext) listBinding() string {
	values := url.Values{}
	for _, p := range c.row.input.parameters {
		if v, ok := c.query[p.name]; ok && p.name != "cursor" {
			values.Set(p.name, p.meaning(v))
		}
	}
	return c.Actor.Credential + "|" + c.target() + "|" + values.Encode()
}

// meaning returns the one form of all spellings of a value.
func (p *parameter) meaning(v any) string {
	spelt := fmt.Sprint(v)
	switch p.schema.Format {
	case "date-time":
		if at, err := clock.Parse(spelt); err == nil {
			return at.String()
		}
	case "idn-hostname":
		if host, ok := weburl.Hostname(spelt); ok {
			return host
		}
	}
	return norm.NFC.String(spelt)
}

func invalidCursor() error {
	return fault.InvalidQuery("cursor", fault.ReasonInvalid,
		"the cursor is altered, older than 15 minutes, or of a list with other filters, order or limit; start again "+
			"without it")
}
