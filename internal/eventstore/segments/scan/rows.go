package scan

import (
	"slices"
	"sort"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// rows finds the rows of a row group that a filter chooses.
type rows struct {
	block segment.Block
	read  segment.Columns
	// chosen are the rows, in their order: by instant and then by id.
	chosen []int32
	meets  []uint8
}

// choose sets chosen to the rows of g from start on and before end. Of the columns, it
// reads those that it needs.
func (r *rows) choose(g Group, c *chooser, start, end clock.Instant) error {
	stats := g.stats()
	columns := c.columns
	if stats.FirstApp != stats.LastApp {
		columns |= segment.Of(segment.App)
	}
	r.read, r.chosen = 0, r.chosen[:0]
	if err := r.more(g, columns); err != nil {
		return err
	}
	from, to := 0, stats.Rows
	if columns.Has(segment.App) {
		from, to = r.ofApp(c.states.App)
	}
	at := r.block.At()[from:to]
	first, _ := slices.BinarySearch(at, start)
	last, _ := slices.BinarySearch(at, end)
	for row := from + first; row < from+last; row++ {
		r.chosen = append(r.chosen, int32(row))
	}
	r.keep(c)
	return nil
}

// more reads columns that were not read yet.
func (r *rows) more(g Group, columns segment.Columns) error {
	err := g.File.Read(g.Index, columns&^r.read, &r.block)
	r.read |= columns
	return err
}

// ofApp returns the range of rows of an app. As rows are in the order of apps, so are
// the codes of apps.
func (r *rows) ofApp(app int64) (from, to int) {
	code := slices.Index(r.block.Numbers(segment.App), app)
	if code < 0 {
		return 0, 0
	}
	codes := r.block.Codes(segment.App)
	from = sort.Search(len(codes), func(i int) bool { return int(codes[i]) >= code })
	to = sort.Search(len(codes), func(i int) bool { return int(codes[i]) > code })
	return from, max(from, to)
}

// keep leaves those rows in chosen that meet all conditions.
func (r *rows) keep(c *chooser) {
	for _, where := range c.conditions {
		values := r.block.Texts(where.column)
		r.filter(where.column, len(values), func(code int) bool { return where.meets(values[code]) })
	}
	if c.links != nil {
		numbers := r.block.Numbers(segment.Link)
		r.filter(segment.Link, len(numbers), func(code int) bool { return c.links[c.states.place(numbers[code])] })
	}
}

// filter keeps the rows whose value of a column, one of n, meets a condition.
func (r *rows) filter(column segment.Column, n int, meets func(code int) bool) {
	if len(r.chosen) == 0 {
		return
	}
	r.meets = slices.Grow(r.meets[:0], n)[:n]
	met := 0
	for code := range r.meets {
		r.meets[code] = 0
		if meets(code) {
			r.meets[code] = 1
			met++
		}
	}
	switch met {
	case 0:
		r.chosen = r.chosen[:0]
		return
	case n:
		return
	}
	codes, table, kept := r.block.Codes(column), r.meets, 0
	for _, row := range r.chosen {
		r.chosen[kept] = row
		kept += int(table[codes[row]])
	}
	r.chosen = r.chosen[:kept]
}
