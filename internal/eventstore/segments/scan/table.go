package scan

import (
	"math/bits"
	"slices"
)

// spread is 2^64 divided by the golden ratio: products with it differ in their upper
// bits where factors differ at all.
const spread = 0x9e3779b97f4a7c15

// minSlots is the size of a table that has nothing yet, a power of two.
const minSlots = 64

// keptSlots is the size from which a table does not stay larger than it is used.
const keptSlots = 1 << 14

// numbering gives values numbers from 0 on.
type numbering struct {
	values []int64
	// slots has the numbers of the values, plus one, from where their hashes point on;
	// half of them are free at least.
	slots []int32
	shift uint
}

func newNumbering() *numbering {
	n := &numbering{}
	n.resize(minSlots)
	return n
}

func (n *numbering) resize(slots int) {
	n.slots = make([]int32, slots)
	n.shift = uint(64 - bits.TrailingZeros(uint(slots)))
	for i, v := range n.values {
		n.slots[n.slot(v)] = int32(i + 1)
	}
}

// slot returns the slot of a value: where it is, or else the free one for it.
func (n *numbering) slot(value int64) uint {
	mask := uint(len(n.slots) - 1)
	for i := uint(uint64(value)*spread>>n.shift) & mask; ; i = (i + 1) & mask {
		if s := n.slots[i]; s == 0 || n.values[s-1] == value {
			return i
		}
	}
}

// find returns the number of a value, -1 if it has none.
func (n *numbering) find(value int64) int32 { return n.slots[n.slot(value)] - 1 }

// number returns the number of a value, which it gives one if need be.
func (n *numbering) number(value int64) int32 {
	i := n.slot(value)
	if n.slots[i] == 0 {
		n.values = append(n.values, value)
		n.slots[i] = int32(len(n.values))
		if 2*len(n.values) > len(n.slots) {
			n.resize(2 * len(n.slots))
		}
		return int32(len(n.values) - 1)
	}
	return n.slots[i] - 1
}

// clone returns a copy that can grow while others use n.
func (n *numbering) clone() *numbering {
	return &numbering{n.values, append([]int32(nil), n.slots...), n.shift}
}

// reset takes all numbers back.
func (n *numbering) reset() {
	many := 16*len(n.values) > len(n.slots)
	n.values = n.values[:0]
	if !many && len(n.slots) > keptSlots {
		n.resize(minSlots)
	}
	clear(n.slots)
}

// pairs is a set of pairs of numbers.
type pairs struct {
	// slots has the pairs, plus one, from where their hashes point on; half of them are
	// free at least.
	slots []uint64
	shift uint
	n     int
}

// add adds a pair and reports whether it is new.
func (p *pairs) add(a, b int32) bool {
	if 2*p.n >= len(p.slots) {
		p.grow()
	}
	if !p.put(uint64(uint32(a))<<32 | uint64(uint32(b)) + 1) {
		return false
	}
	p.n++
	return true
}

func (p *pairs) put(pair uint64) bool {
	mask := uint(len(p.slots) - 1)
	for i := uint(pair*spread>>p.shift) & mask; ; i = (i + 1) & mask {
		switch p.slots[i] {
		case pair:
			return false
		case 0:
			p.slots[i] = pair
			return true
		}
	}
}

func (p *pairs) grow() {
	old := p.slots
	p.slots = make([]uint64, max(minSlots, 2*len(old)))
	p.shift = uint(64 - bits.TrailingZeros(uint(len(p.slots))))
	for _, pair := range old {
		if pair != 0 {
			p.put(pair)
		}
	}
}

// reset empties the set.
func (p *pairs) reset() {
	if 16*p.n < len(p.slots) && len(p.slots) > keptSlots {
		p.slots = nil
	}
	if p.n > 0 {
		clear(p.slots)
	}
	p.n = 0
}

// distinct finds each pair of a group and a thing once. Groups are numbered in the order
// in which they are met, so that the first are those of most events; and most things
// meet no more than one of the others.
type distinct struct {
	met   []metGroups // by thing
	other pairs
}

// metGroups are those that a thing has met: low has a bit for each of the first lowGroups,
// high is the first of the others, 0 for none. Further ones are in distinct.other.
type metGroups struct {
	low  uint32
	high int32
}

const lowGroups = 32

// reset forgets all pairs. Things are numbers below things.
func (d *distinct) reset(things int) {
	clear(d.met)
	d.met = d.met[:0]
	d.grow(things)
	d.other.reset()
}

// grow makes room for more things.
func (d *distinct) grow(things int) {
	if more := things - len(d.met); more > 0 {
		d.met = slices.Grow(d.met, more)[:things] // cleared, or never used
	}
}

// add reports whether a pair is new.
func (d *distinct) add(group, thing int32) bool {
	m := &d.met[thing]
	if group < lowGroups {
		before := m.low
		m.low |= 1 << group
		return m.low != before
	}
	return m.high != group && d.addHigh(group, thing, m)
}

func (d *distinct) addHigh(group, thing int32, m *metGroups) bool {
	if m.high == 0 {
		m.high = group
		return true
	}
	return d.other.add(group, thing)
}
