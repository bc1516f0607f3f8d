package scan

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// counter counts the events of an era for a question: what all of its parts need once,
// and the rest for each of them.
type counter struct {
	rows
	asked *question
	// partial has one for each part of the question, and some of earlier questions.
	partial []*partial

	// kind is the kind of each chosen row.
	kind  []kind
	kinds []kind  // by code of the type, twice: without an install and with one
	known []uint8 // by code of the install: 1 if it is known
	// people has the number of each code of a visitor, -1 before it is met, and hashes
	// gives these numbers, in an era of several row groups.
	people []int32
	hashes numbering
}

// scan counts the events of a row group of an era. alone tells that it is the only one.
func (c *counter) scan(g Group, e *era, alone bool) error {
	if err := c.choose(g, c.asked.chooser, e.start, e.end); err != nil || len(c.chosen) == 0 {
		return err
	}
	if err := c.more(g, c.asked.columns); err != nil {
		return err
	}
	c.findKinds()
	if c.asked.visitors && !alone {
		n := len(c.block.Numbers(segment.Visitor))
		c.people = slices.Grow(c.people[:0], n)[:n]
		fill(c.people, -1)
	}
	for i := range c.asked.parts {
		c.partial[i].count(alone)
	}
	return nil
}

// findKinds finds the kinds of the chosen rows.
func (c *counter) findKinds() {
	c.kinds = c.kinds[:0]
	for _, t := range c.block.Texts(segment.Type) {
		c.kinds = append(c.kinds, kindOf(t, false), kindOf(t, true))
	}
	c.known = c.known[:0]
	for _, install := range c.block.Numbers(segment.Install) {
		known := uint8(0)
		if install != 0 {
			known = 1
		}
		c.known = append(c.known, known)
	}
	c.kind = slices.Grow(c.kind[:0], len(c.chosen))[:len(c.chosen)]
	types, installs := c.block.Codes(segment.Type), c.block.Codes(segment.Install)
	for i, row := range c.chosen {
		c.kind[i] = c.kinds[2*types[row]+int32(c.known[installs[row]])]
	}
}

// number returns the number of the visitor with a code in the row group, which is one of
// several of an era.
func (c *counter) number(code int32) int32 {
	n := c.people[code]
	if n < 0 {
		n = c.hashes.number(c.block.Numbers(segment.Visitor)[code])
		c.people[code] = n
	}
	return n
}

// end adds what was counted to the totals and gives c back.
func (c *counter) end() {
	for i := range c.asked.parts {
		c.partial[i].end()
	}
	c.hashes.reset()
	c.asked = nil
	counters.Put(c)
}

func fill(list []int32, v int32) {
	for i := range list {
		list[i] = v
	}
}
