package segments

import (
	"cmp"
	"container/heap"
	"iter"

	"github.com/waymarkhq/waymark/internal/eventstore/segments/scan"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// key is the place of an event in the order of all.
type key struct {
	app, at, id int64
}

func (k key) compare(l key) int {
	return cmp.Or(cmp.Compare(k.app, l.app), cmp.Compare(k.at, l.at), cmp.Compare(k.id, l.id))
}

// cursor goes through the row groups of one segment.
type cursor struct {
	groups []scan.Group
	// next is not after the next event, and is its key when block is there.
	next  key
	block *segment.Block
	row   int
}

// cursors is a heap; the one with the first next is on top.
type cursors []*cursor

func (c cursors) Len() int           { return len(c) }
func (c cursors) Less(i, j int) bool { return c[i].next.compare(c[j].next) < 0 }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// merged returns the events of row groups that come after a key, in their order, each
// once also where it is in several. Of each segment, the groups must be in their order.
// A group is read when its first event is next, so that there are as many in memory as
// overlap. An event is valid until the next one.
func merged(groups []scan.Group, after key) iter.Seq2[*segment.Event, error] {
	return func(yield func(*segment.Event, error) bool) {
		var event segment.Event
		var free []*segment.Block
		var h cursors
		for i := 0; i < len(groups); {
			n := i + 1
			for n < len(groups) && groups[n].File == groups[i].File {
				n++
			}
			c := &cursor{groups: groups[i:n]}
			c.look()
			h = append(h, c)
			i = n
		}
		heap.Init(&h)
		for len(h) > 0 {
			c := h[0]
			if c.block == nil {
				if len(free) == 0 {
					free = append(free, &segment.Block{})
				}
				c.block, free = free[len(free)-1], free[:len(free)-1]
				if err := c.read(after); err != nil {
					yield(nil, err)
					return
				}
			} else {
				if c.next.compare(after) > 0 {
					after = c.next
					if event = c.block.Event(c.row); !yield(&event, nil) {
						return
					}
				}
				c.row++
			}
			if c.row == c.block.Rows() {
				free, c.block, c.groups = append(free, c.block), nil, c.groups[1:]
				if len(c.groups) == 0 {
					heap.Pop(&h)
					continue
				}
				c.look()
			} else {
				c.next = c.keyOf(c.row)
			}
			heap.Fix(&h, 0)
		}
	}
}

// look makes next the lower bound of the first group.
func (c *cursor) look() {
	g := c.groups[0].File.Group(c.groups[0].Index)
	c.next = key{app: g.FirstApp, at: int64(g.FirstAt), id: -1}
}

// read reads the first group and goes to its first event after a key.
func (c *cursor) read(after key) error {
	if err := c.groups[0].File.Read(c.groups[0].Index, segment.All, c.block); err != nil {
		return err
	}
	low, high := 0, c.block.Rows()
	for low < high {
		middle := (low + high) / 2
		if c.keyOf(middle).compare(after) > 0 {
			high = middle
		} else {
			low = middle + 1
		}
	}
	c.row = low
	return nil
}

func (c *cursor) keyOf(row int) key {
	b := c.block
	return key{b.Numbers(segment.App)[b.Codes(segment.App)[row]], int64(b.At()[row]), b.IDs()[row].Int()}
}
