package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
)

// Parquet's numbers for physical types.
const (
	physicalInt64     = 2
	physicalByteArray = 6
	physicalFixed     = 7
)

// physical returns the type that a column has in a file.
func (c Column) physical() int64 {
	switch {
	case c == IDs:
		return physicalFixed
	case c.text():
		return physicalByteArray
	}
	return physicalInt64
}

// footer is what is needed of a Parquet footer.
type footer struct {
	names  []string
	groups []rowGroup
	format string
}

// rowGroup tells where the columns of a row group lie.
type rowGroup struct {
	Group
	chunks [columns]chunk
}

// chunk is the place of a column of a row group: of its pages, the dictionary first.
type chunk struct {
	offset, size int64
}

// parseFooter reads a footer, of a file of which size bytes come before it.
func parseFooter(b []byte, size int64) (*footer, error) {
	d, f := &compact{b: b}, &footer{}
	var wrong error
	d.fields(func(id int, kind byte) bool {
		switch id {
		case 2:
			d.list(func() { f.names = append(f.names, d.schemaName()) })
		case 4:
			d.list(func() {
				g, err := d.rowGroup(size)
				if err != nil && wrong == nil {
					wrong, d.bad = err, true
				}
				f.groups = append(f.groups, g)
			})
		case 5:
			d.list(func() {
				if key, value := d.keyValue(); key == formatKey {
					f.format = value
				}
			})
		default:
			return false
		}
		return true
	})
	if wrong == nil && (d.bad || d.at != len(b)) {
		wrong = fmt.Errorf("%w: its footer is not one of Parquet", ErrDamaged)
	}
	return f, wrong
}

func (d *compact) schemaName() (name string) {
	d.fields(func(id int, kind byte) bool {
		if id == 4 {
			name = string(d.bytes())
		}
		return id == 4
	})
	return name
}

func (d *compact) keyValue() (key, value string) {
	d.fields(func(id int, kind byte) bool {
		switch id {
		case 1:
			key = string(d.bytes())
		case 2:
			value = string(d.bytes())
		default:
			return false
		}
		return true
	})
	return key, value
}

// rowGroup reads and checks a row group.
func (d *compact) rowGroup(size int64) (g rowGroup, err error) {
	var rows int64
	n := 0
	d.fields(func(id int, kind byte) bool {
		switch id {
		case 1:
			d.list(func() {
				if n == int(columns) {
					d.bad = true
					return
				}
				if e := d.columnChunk(&g, Column(n), size); err == nil {
					err = e
				}
				n++
			})
		case 3:
			rows = d.int()
		default:
			return false
		}
		return true
	})
	switch {
	case err != nil || d.bad:
	case n != int(columns):
		err = fmt.Errorf("%w: a row group has %d columns, not %d", ErrDamaged, n, columns)
	case rows < 1 || rows > maxRows:
		err = fmt.Errorf("%w: a row group has %d rows, not 1 to %d", ErrDamaged, rows, maxRows)
	}
	g.Rows = int(rows)
	return g, err
}

// columnChunk reads and checks a column of a row group.
func (d *compact) columnChunk(g *rowGroup, c Column, size int64) error {
	var physical, codec, total, data, dictionary int64
	var low, high []byte
	statistics := func(id int, kind byte) bool {
		switch id {
		case 5:
			high = d.bytes()
		case 6:
			low = d.bytes()
		default:
			return false
		}
		return true
	}
	numbers := map[int]*int64{1: &physical, 4: &codec, 7: &total, 9: &data, 11: &dictionary}
	d.fields(func(id int, kind byte) bool {
		if id != 3 || kind != thriftStruct {
			return false
		}
		d.fields(func(id int, kind byte) bool {
			switch n := numbers[id]; {
			case id == 12:
				d.fields(statistics)
			case n != nil:
				*n = d.int()
			default:
				return false
			}
			return true
		})
		return true
	})
	first := data
	if dictionary > 0 {
		first = dictionary
	}
	switch {
	case d.bad:
		return nil // said by the caller
	case physical != c.physical() || codec != 0:
		return fmt.Errorf("%w: column %s has type %d and codec %d", ErrDamaged, c, physical, codec)
	case first < 4 || total < 1 || total > size || first > size-total:
		return fmt.Errorf("%w: column %s lies outside of the file", ErrDamaged, c)
	case (c == App || c == At) && (len(low) != 8 || len(high) != 8):
		return fmt.Errorf("%w: column %s has no statistics", ErrDamaged, c)
	}
	g.chunks[c] = chunk{first, total}
	switch c {
	case App:
		g.FirstApp, g.LastApp = int64(binary.LittleEndian.Uint64(low)), int64(binary.LittleEndian.Uint64(high))
	case At:
		g.FirstAt = clock.Instant(binary.LittleEndian.Uint64(low))
		g.LastAt = clock.Instant(binary.LittleEndian.Uint64(high))
	}
	return nil
}
