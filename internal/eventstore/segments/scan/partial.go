package scan

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// partial is what a counter has counted for a part of the question. Inside, it numbers
// the groups that it meets from 0 on, so that what it keeps of each lies close together.
type partial struct {
	*counter
	*part

	// groups are the groups of the total that were met, and local their numbers here,
	// plus one, by group of the total.
	groups, local []int32
	sums          []sum

	// chosen and kind are those of the counter, each row once for each of its groups, and
	// in its group.
	chosen []int32
	kind   []kind
	in     []int32
	// tagged are chosen and kind where they are not the same as the counter's.
	tagged      []int32
	taggedKinds []kind
	// of has the group of each code of the column that groups are made by, -1 before it
	// is met.
	of []int32

	visitors distinct
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

// count counts the chosen rows of the row group that the counter is at.
func (p *partial) count(alone bool) {
	p.chosen, p.kind = p.counter.chosen, p.counter.kind
	p.assign()
	p.tally()
	if p.Visitors {
		p.countVisitors(alone)
	}
	if p.Links {
		p.findLinks()
	}
	if p.Installs {
		p.findInstalls()
	}
}

// group returns the number here of a group of the total.
func (p *partial) group(g int32) int32 {
	if more := int(g) + 1 - len(p.local); more > 0 {
		p.local = append(p.local, make([]int32, more)...)
	}
	if p.local[g] == 0 {
		p.groups = append(p.groups, g)
		p.local[g] = int32(len(p.groups))
		p.sums = append(p.sums, sum{})
	}
	return p.local[g] - 1
}

// assign finds the groups of the chosen rows.
func (p *partial) assign() {
	p.in = slices.Grow(p.in[:0], len(p.chosen))[:len(p.chosen)]
	switch {
	case p.By == eventstore.None:
		fill(p.in, p.group(0))
	case p.By == eventstore.Time:
		p.assignPeriods()
	case p.By == eventstore.ByTag:
		p.assignTags()
	case p.grouping.column == segment.Link:
		numbers, states := p.block.Numbers(segment.Link), p.asked.chooser.states
		p.assignCodes(len(numbers), func(code int32) int32 {
			return p.total.groupOf(p.grouping, states, states.place(numbers[code]))
		})
	default:
		values := p.block.Texts(p.grouping.column)
		p.assignCodes(len(values), func(code int32) int32 { return p.total.group(values[code]) })
	}
}

// assignPeriods finds the periods: as rows are in the order of time, they are, too.
func (p *partial) assignPeriods() {
	at := p.block.At()
	after, exact := slices.BinarySearch(p.Bounds, at[p.chosen[0]])
	if !exact {
		after--
	}
	period, in := after, p.group(int32(after))
	for i, row := range p.chosen {
		for at[row] >= p.Bounds[period+1] {
			if period++; at[row] < p.Bounds[period+1] {
				in = p.group(int32(period))
			}
		}
		p.in[i] = in
	}
}

// assignCodes finds the groups by the codes of a column of n values.
func (p *partial) assignCodes(n int, groupOf func(code int32) int32) {
	p.of = slices.Grow(p.of[:0], n)[:n]
	fill(p.of, -1)
	codes := p.block.Codes(p.grouping.column)
	for i, row := range p.chosen {
		code := codes[row]
		in := p.of[code]
		if in < 0 {
			in = p.group(groupOf(code))
			p.of[code] = in
		}
		p.in[i] = in
	}
}

// assignTags makes a row chosen once for each tag.
func (p *partial) assignTags() {
	codes, numbers := p.block.Codes(segment.Link), p.block.Numbers(segment.Link)
	states := p.asked.chooser.states
	rows, kinds, in := p.tagged[:0], p.taggedKinds[:0], p.in[:0]
	for i, row := range p.chosen {
		for _, g := range p.total.groupsOf(states, states.place(numbers[codes[row]])) {
			rows, kinds, in = append(rows, row), append(kinds, p.kind[i]), append(in, p.group(g))
		}
	}
	p.tagged, p.taggedKinds, p.in = rows, kinds, in
	p.chosen, p.kind = rows, kinds
}

// tally counts the chosen rows by group and kind.
func (p *partial) tally() {
	at, in, kinds := p.block.At(), p.in, p.kind
	for i, row := range p.chosen {
		n := &p.sums[in[i]].counts[kinds[i]]
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
func (p *partial) countVisitors(alone bool) {
	codes := p.block.Codes(segment.Visitor)
	p.visitors.grow(len(p.hashes.values) + len(p.block.Numbers(segment.Visitor)))
	for i, row := range p.chosen {
		if k := p.kind[i]; k != click && k != identified {
			continue
		}
		visitor := codes[row]
		if !alone {
			visitor = p.number(visitor)
		}
		if p.visitors.add(p.in[i], visitor) {
			p.sums[p.in[i]].visitors++
		}
	}
}

// findLinks finds the links with a click.
func (p *partial) findLinks() {
	codes, numbers, states := p.block.Codes(segment.Link), p.block.Numbers(segment.Link), p.asked.chooser.states
	p.linked.reset(len(numbers))
	for i, row := range p.chosen {
		k := p.kind[i]
		if (k == click || k == identified) && p.linked.add(p.in[i], codes[row]) {
			link := states.ids[states.place(numbers[codes[row]])]
			p.links = append(p.links, pair{p.groups[p.in[i]], int64(link)})
		}
	}
}

// findInstalls finds the known installs with an app open, a content view or a legacy
// content load.
func (p *partial) findInstalls() {
	codes, installs := p.block.Codes(segment.Install), p.block.Numbers(segment.Install)
	p.installed.reset(len(installs))
	for i, row := range p.chosen {
		k := p.kind[i]
		if k < appOpen || k > legacyLoad || p.known[codes[row]] == 0 {
			continue
		}
		if p.installed.add(p.in[i], codes[row]) {
			p.installs = append(p.installs, pair{p.groups[p.in[i]], installs[codes[row]]})
		}
	}
}

// end adds what was counted to the total and makes p ready for another part.
func (p *partial) end() {
	t := p.total
	t.mu.Lock()
	for i, g := range p.groups {
		t.sums[g].add(&p.sums[i])
		p.local[g] = 0
	}
	for _, l := range p.links {
		if t.links.add(l.group, int32(l.thing)) {
			t.sums[l.group].links++
		}
	}
	for _, l := range p.installs {
		if t.installs.add(l.group, t.known.number(l.thing)) {
			t.sums[l.group].installs++
		}
	}
	t.mu.Unlock()
	p.groups, p.sums, p.links, p.installs = p.groups[:0], p.sums[:0], p.links[:0], p.installs[:0]
	p.visitors.reset(0)
	p.part = nil
}
