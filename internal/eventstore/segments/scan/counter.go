package scan

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// counter counts the events of an era for a question. Inside, it numbers the groups
// that it meets from 0 on, so that what it keeps of each lies close together.
type counter struct {
	rows
	asked *question

	// groups are the groups of the total that were met, and local their numbers here,
	// plus one, by group of the total.
	groups, local []int32
	sums          []sum

	// in is the group, and kind the kind, of each chosen row.
	in    []int32
	kind  []kind
	kinds []kind  // by code of the type, twice: without an install and with one
	known []uint8 // by code of the install: 1 if it is known
	// of has the group of each code of the column that groups are made by, -1 before it
	// is met; people likewise the numbers of visitors.
	of, people []int32

	visitors distinct
	// hashes numbers the visitors of an era of several row groups.
	hashes numbering
	// linked and installed are those of one row group; links and installs what they found.
	linked, installed distinct
	links             []pair
	installs          []pair
}

// pair is a group of the total, and a link or an install.
type pair struct {
	group int32
	thing int64
}

// scan counts the events of a row group of an era. alone tells that it is the only one.
func (c *counter) scan(g Group, e *era, alone bool) error {
	if err := c.choose(g, c.asked.chooser, e.start, e.end); err != nil || len(c.chosen) == 0 {
		return err
	}
	if err := c.more(g, c.asked.columns); err != nil {
		return err
	}
	c.assign()
	c.tally()
	if c.asked.Visitors {
		c.countVisitors(alone)
	}
	if c.asked.Links {
		c.findLinks()
	}
	if c.asked.Installs {
		c.findInstalls()
	}
	return nil
}

// group returns the number here of a group of the total.
func (c *counter) group(g int32) int32 {
	if more := int(g) + 1 - len(c.local); more > 0 {
		c.local = append(c.local, make([]int32, more)...)
	}
	if c.local[g] == 0 {
		c.groups = append(c.groups, g)
		c.local[g] = int32(len(c.groups))
		c.sums = append(c.sums, sum{})
	}
	return c.local[g] - 1
}

// assign finds the groups of the chosen rows.
func (c *counter) assign() {
	c.in = slices.Grow(c.in[:0], len(c.chosen))[:len(c.chosen)]
	switch {
	case c.asked.By == eventstore.None:
		fill(c.in, c.group(0))
	case c.asked.By == eventstore.Time:
		c.assignPeriods()
	case c.asked.By == eventstore.ByTag:
		c.assignTags()
	case c.asked.grouping.column == segment.Link:
		numbers, total, states := c.block.Numbers(segment.Link), c.asked.total, c.asked.chooser.states
		c.assignCodes(len(numbers), func(code int32) int32 {
			return total.groupOf(c.asked.grouping, states, states.place(numbers[code]))
		})
	default:
		values := c.block.Texts(c.asked.grouping.column)
		c.assignCodes(len(values), func(code int32) int32 { return c.asked.total.group(values[code]) })
	}
}

func fill(list []int32, v int32) {
	for i := range list {
		list[i] = v
	}
}

// assignPeriods finds the periods: as rows are in the order of time, they are, too.
func (c *counter) assignPeriods() {
	at := c.block.At()
	after, exact := slices.BinarySearch(c.asked.Bounds, at[c.chosen[0]])
	if !exact {
		after--
	}
	period, in := after, c.group(int32(after))
	for i, row := range c.chosen {
		for at[row] >= c.asked.Bounds[period+1] {
			if period++; at[row] < c.asked.Bounds[period+1] {
				in = c.group(int32(period))
			}
		}
		c.in[i] = in
	}
}

// assignCodes finds the groups by the codes of a column of n values.
func (c *counter) assignCodes(n int, groupOf func(code int32) int32) {
	c.of = slices.Grow(c.of[:0], n)[:n]
	fill(c.of, -1)
	codes := c.block.Codes(c.asked.grouping.column)
	for i, row := range c.chosen {
		code := codes[row]
		in := c.of[code]
		if in < 0 {
			in = c.group(groupOf(code))
			c.of[code] = in
		}
		c.in[i] = in
	}
}

// assignTags makes a row chosen once for each tag.
func (c *counter) assignTags() {
	codes, numbers := c.block.Codes(segment.Link), c.block.Numbers(segment.Link)
	total, states := c.asked.total, c.asked.chooser.states
	chosen := append(c.of[:0], c.chosen...) // c.of is free meanwhile
	c.of, c.chosen, c.in = chosen, c.chosen[:0], c.in[:0]
	for _, row := range chosen {
		for _, g := range total.groupsOf(states, states.place(numbers[codes[row]])) {
			c.chosen, c.in = append(c.chosen, row), append(c.in, c.group(g))
		}
	}
}

// tally counts the chosen rows by group and kind.
func (c *counter) tally() {
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
	at, types, installs := c.block.At(), c.block.Codes(segment.Type), c.block.Codes(segment.Install)
	for i, row := range c.chosen {
		k := c.kinds[2*types[row]+int32(c.known[installs[row]])]
		c.kind[i] = k
		n := &c.sums[c.in[i]].counts[k]
		t := at[row]
		if n.n == 0 {
			n.first, n.last = t, t
		}
		n.n++
		n.first, n.last = min(n.first, t), max(n.last, t)
	}
}

// countVisitors counts the visitors of clicks that are new to their group. Where a row
// group is alone with its days, codes tell visitors apart; else their hashes are
// numbered.
func (c *counter) countVisitors(alone bool) {
	codes, hashes := c.block.Codes(segment.Visitor), c.block.Numbers(segment.Visitor)
	c.visitors.grow(len(c.hashes.values) + len(hashes))
	if !alone {
		c.people = slices.Grow(c.people[:0], len(hashes))[:len(hashes)]
		fill(c.people, -1)
	}
	for i, row := range c.chosen {
		if k := c.kind[i]; k != click && k != identified {
			continue
		}
		visitor := codes[row]
		if !alone {
			code := visitor
			if visitor = c.people[code]; visitor < 0 {
				visitor = c.hashes.number(hashes[code])
				c.people[code] = visitor
			}
		}
		if c.visitors.add(c.in[i], visitor) {
			c.sums[c.in[i]].visitors++
		}
	}
}

// findLinks finds the links with a click.
func (c *counter) findLinks() {
	codes, numbers, states := c.block.Codes(segment.Link), c.block.Numbers(segment.Link), c.asked.chooser.states
	c.linked.reset(len(numbers))
	for i, row := range c.chosen {
		k := c.kind[i]
		if (k == click || k == identified) && c.linked.add(c.in[i], codes[row]) {
			link := states.ids[states.place(numbers[codes[row]])]
			c.links = append(c.links, pair{c.groups[c.in[i]], int64(link)})
		}
	}
}

// findInstalls finds the known installs with an app open, a content view or a legacy
// content load.
func (c *counter) findInstalls() {
	codes, installs := c.block.Codes(segment.Install), c.block.Numbers(segment.Install)
	c.installed.reset(len(installs))
	for i, row := range c.chosen {
		k := c.kind[i]
		if k < appOpen || k > legacyLoad || c.known[codes[row]] == 0 {
			continue
		}
		if c.installed.add(c.in[i], codes[row]) {
			c.installs = append(c.installs, pair{c.groups[c.in[i]], installs[codes[row]]})
		}
	}
}

// end adds what was counted to the total and gives c back.
func (c *counter) end() {
	t := c.asked.total
	t.mu.Lock()
	for i, g := range c.groups {
		t.sums[g].add(&c.sums[i])
		c.local[g] = 0
	}
	for _, p := range c.links {
		if t.links.add(p.group, int32(p.thing)) {
			t.sums[p.group].links++
		}
	}
	for _, p := range c.installs {
		if t.installs.add(p.group, t.known.number(p.thing)) {
			t.sums[p.group].installs++
		}
	}
	t.mu.Unlock()
	c.groups, c.sums, c.links, c.installs = c.groups[:0], c.sums[:0], c.links[:0], c.installs[:0]
	c.visitors.reset(0)
	c.hashes.reset()
	c.asked = nil
	counters.Put(c)
}
