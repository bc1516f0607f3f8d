package segment

import "encoding/binary"

// The types of Thrift's compact protocol, in which Parquet writes its footer and the
// headers of its pages.
const (
	thriftTrue = 1 + iota
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct

	// maxDepth bounds how deep what is skipped may be nested.
	maxDepth = 16
)

// compact reads values of the compact protocol one after the other; once bad, it
// returns zeros. It never allocates more than it has bytes.
type compact struct {
	b   []byte
	at  int
	bad bool
}

func (d *compact) moved(n int) bool {
	if d.bad = d.bad || n <= 0 || n > len(d.b)-d.at; d.bad {
		return false
	}
	d.at += n
	return true
}

func (d *compact) byte() byte {
	if !d.moved(1) {
		return 0
	}
	return d.b[d.at-1]
}

func (d *compact) uvarint() uint64 {
	v, n := binary.Uvarint(d.b[d.at:])
	if !d.moved(n) {
		return 0
	}
	return v
}

func (d *compact) int() int64 {
	v, n := binary.Varint(d.b[d.at:])
	if !d.moved(n) {
		return 0
	}
	return v
}

// bytes returns a part of what d reads from.
func (d *compact) bytes() []byte {
	n := d.uvarint()
	if n == 0 {
		return nil
	}
	if n > uint64(len(d.b)-d.at) || !d.moved(int(n)) {
		d.bad = true
		return nil
	}
	return d.b[d.at-int(n) : d.at]
}

// fields calls field for each field of a struct. It returns false for a field that it
// has not read.
func (d *compact) fields(field func(id int, kind byte) bool) { d.nested(maxDepth, field) }

func (d *compact) nested(depth int, field func(id int, kind byte) bool) {
	for id := 0; !d.bad; {
		head := d.byte()
		kind := head & 15
		if kind == 0 {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(d.int())
		}
		if !field(id, kind) {
			d.skip(kind, depth)
		}
	}
}

// list calls item for each item of a list of structs.
func (d *compact) list(item func()) {
	n, kind := d.listHead()
	d.bad = d.bad || n > 0 && kind != thriftStruct
	for range n {
		if d.bad {
			return
		}
		item()
	}
}

// listHead reads how many items of which type follow: no more than there are bytes.
func (d *compact) listHead() (n int, kind byte) {
	head := d.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = d.uvarint()
	}
	if size > uint64(len(d.b)-d.at) {
		d.bad = true
		return 0, 0
	}
	return int(size), head & 15
}

// skip passes over a value of a field.
func (d *compact) skip(kind byte, depth int) {
	if d.bad = d.bad || depth == 0; d.bad {
		return
	}
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		d.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		d.int()
	case thriftDouble:
		d.moved(8)
	case thriftBinary:
		d.bytes()
	case thriftList, thriftSet:
		n, kind := d.listHead()
		for range n {
			if kind == thriftTrue || kind == thriftFalse {
				kind = thriftByte // in a list, a bool takes a byte
			}
			d.skip(kind, depth-1)
		}
	case thriftStruct:
		d.nested(depth-1, func(int, byte) bool { return false })
	default:
		d.bad = true
	}
}
