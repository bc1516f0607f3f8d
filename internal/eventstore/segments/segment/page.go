package segment

import (
	"fmt"
	"hash/crc32"
)

// Parquet's numbers for page types and encodings.
const (
	dictionaryPage = 2
	dataPage       = 3 // version 2

	plain           = 0
	deltaPacked     = 5
	dictionaryCodes = 8
)

// page is a page of a column.
type page struct {
	kind, encoding int64
	values         int
	// data may be read beyond its length, up to padding bytes.
	data []byte
}

// nextPage reads the page at the start of b and returns what comes after it.
func nextPage(b []byte) (p page, rest []byte, err error) {
	d := compact{b: b}
	var size, stored, sum, values, levels int64
	head := func(id int, kind byte) bool {
		switch id {
		case 1:
			values = d.int()
		case 2:
			if p.kind == dictionaryPage {
				p.encoding = d.int()
			} else {
				levels |= d.int() // nulls, which no column has
			}
		case 4:
			p.encoding = d.int()
		case 5, 6:
			levels |= d.int()
		default:
			return false
		}
		return true
	}
	d.fields(func(id int, kind byte) bool {
		switch {
		case id == 1:
			p.kind = d.int()
		case id == 2:
			size = d.int()
		case id == 3:
			stored = d.int()
		case id == 4:
			sum = d.int()
		case id == 7 && p.kind == dictionaryPage, id == 8 && p.kind == dataPage:
			d.fields(head)
		default:
			return false
		}
		return true
	})
	if d.bad || size != stored || size < 0 || size > int64(len(b)-d.at) || values < 0 || levels != 0 {
		return p, nil, fmt.Errorf("%w: bad page header", ErrDamaged)
	}
	p.data = b[d.at : d.at+int(size)]
	if crc32.ChecksumIEEE(p.data) != uint32(int32(sum)) {
		return p, nil, fmt.Errorf("%w: checksum of a page", ErrDamaged)
	}
	if p.values = int(values); values > maxRows {
		return p, nil, fmt.Errorf("%w: page of %d values", ErrDamaged, values)
	}
	return p, b[d.at+int(size):], nil
}
