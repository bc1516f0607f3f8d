package segment

import (
	"fmt"
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
)

// Block holds columns of one row group, decoded. It is meant to be read into again and
// again, which needs hardly any memory then. The zero Block is ready to use.
type Block struct {
	rows    int
	at      []clock.Instant
	ids     []ID
	codes   [columns][]int32
	numbers [columns][]int64
	texts   [columns][]string
	// raw is what was read of the file last.
	raw []byte
}

// Rows returns the number of rows.
func (b *Block) Rows() int { return b.rows }

// At returns the instant of each row.
func (b *Block) At() []clock.Instant { return b.at }

// IDs returns the id of each row.
func (b *Block) IDs() []ID { return b.ids }

// Codes returns for each row the index of its value in Numbers or Texts of that column.
func (b *Block) Codes(c Column) []int32 { return b.codes[c] }

// Numbers returns the values of App, Link, Visitor or Install, each once, in the order
// of their first rows.
func (b *Block) Numbers(c Column) []int64 { return b.numbers[c] }

// Texts returns the values of a column of text, each once, in the order of their first
// rows.
func (b *Block) Texts(c Column) []string { return b.texts[c] }

// Read reads columns of a row group into b. What b had before is lost, as its memory is
// used again; but texts stay valid.
func (f *File) Read(group int, set Columns, b *Block) (err error) {
	defer recovered(&err)
	g := &f.groups[group]
	b.rows = g.Rows
	for c := range columns {
		if !set.Has(c) {
			continue
		}
		if err := f.readColumn(g, c, b); err != nil {
			return fmt.Errorf("column %s of row group %d: %w", c, group, err)
		}
	}
	return nil
}

func (f *File) readColumn(g *rowGroup, c Column, b *Block) error {
	chunk := g.chunks[c]
	b.raw = slices.Grow(b.raw[:0], int(chunk.size)+padding)[:chunk.size]
	if err := readAt(f.r, b.raw, chunk.offset); err != nil {
		return err
	}
	b.clear(c)
	row := 0
	for rest := b.raw; len(rest) > 0; {
		p, after, err := nextPage(rest)
		if err != nil {
			return err
		}
		rest = after
		switch {
		case p.kind == dictionaryPage && row == 0 && b.values(c) == 0:
			err = b.takeDictionary(c, p)
		case p.kind == dataPage && p.values <= g.Rows-row:
			err = b.take(c, p, row)
			row += p.values
		default:
			err = fmt.Errorf("%w: unexpected page of type %d", ErrDamaged, p.kind)
		}
		if err != nil {
			return err
		}
	}
	if row != g.Rows {
		return fmt.Errorf("%w: %d values of %d", ErrDamaged, row, g.Rows)
	}
	return nil
}

// clear makes a column ready for the values of b.rows rows.
func (b *Block) clear(c Column) {
	switch c {
	case At:
		b.at = slices.Grow(b.at[:0], b.rows)[:b.rows]
	case IDs:
		b.ids = b.ids[:0]
	default:
		b.codes[c] = slices.Grow(b.codes[c][:0], b.rows)[:b.rows]
		b.numbers[c], b.texts[c] = b.numbers[c][:0], b.texts[c][:0]
	}
}

// values returns the number of values in the dictionary of a column.
func (b *Block) values(c Column) int { return len(b.numbers[c]) + len(b.texts[c]) }

func (b *Block) takeDictionary(c Column, p page) (err error) {
	if p.encoding != plain || c == At || c == IDs {
		return fmt.Errorf("%w: dictionary of encoding %d", ErrDamaged, p.encoding)
	}
	if c.text() {
		b.texts[c], err = appendTexts(b.texts[c], p.data)
	} else {
		b.numbers[c] = appendNumbers(b.numbers[c], p.data)
	}
	if err == nil && b.values(c) != p.values {
		err = errShortPage
	}
	return err
}

// take decodes the values of the rows from row on.
func (b *Block) take(c Column, p page, row int) error {
	switch {
	case c == At && p.encoding == deltaPacked:
		return decodeDeltas(b.at[row:row+p.values], p.data)
	case c == IDs && p.encoding == plain:
		if b.ids = appendIDs(b.ids, p.data); len(b.ids) != row+p.values {
			return errShortPage
		}
		return nil
	case c != At && c != IDs && p.encoding == dictionaryCodes:
		return decodeCodes(b.codes[c][row:row+p.values], p.data, b.values(c))
	}
	return fmt.Errorf("%w: encoding %d", ErrDamaged, p.encoding)
}
