package csvtable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error tells where a text is no table, and why.
type Error struct {
	Row    int // counted from 1; 0 is the header
	Line   int // of the text where the row starts, counted from 1
	Reason string
	// TooMany tells that there are more rows than may be, and no other mistake.
	TooMany bool
}

// Error names the row and the reason.
func (e *Error) Error() string {
	if e.Row == 0 {
		return "the header: " + e.Reason
	}
	return fmt.Sprintf("row %d (line %d): %s", e.Row, e.Line, e.Reason)
}

// Read returns the header and the rows of a CSV text, of which there may be at
// most maxRows. Its error is an *Error.
//
// The text may start with a byte order mark. Rows end with LF or CRLF; line
// ends inside quotes stay as they are. A quote starts a cell or is inside one
// that has quotes. Spaces around a column's name are dropped. Empty lines are
// ignored at the end and refused elsewhere, so that no row is lost unseen: a
// row of one empty cell is written "". The apostrophes that Write puts before
// what could be a formula are taken off.
func Read(text string, maxRows int) (header []string, rows [][]Cell, err error) {
	r := reader{rest: strings.TrimPrefix(text, bom), line: 1}
	if header, err = r.header(); err != nil {
		return nil, nil, err
	}
	for r.row = 1; r.rest != ""; r.row++ {
		if strings.Trim(r.rest, "\r\n") == "" {
			break
		}
		cells, err := r.cells()
		if err != nil {
			return nil, nil, err
		}
		if r.row > maxRows {
			return nil, nil, &Error{Row: r.row, Line: r.line,
				Reason: fmt.Sprintf("there are more than %d rows", maxRows), TooMany: true}
		}
		if len(cells) != len(header) {
			return nil, nil, r.wrong("the row has %d cells, the header has %d", len(cells), len(header))
		}
		rows = append(rows, cells)
	}
	return header, rows, nil
}

// reader is what is still to be read of a text.
type reader struct {
	rest string
	row  int
	// line is where the row starts, lines is how many ended since.
	line, lines int
}

func (r *reader) wrong(format string, args ...any) error {
	return &Error{Row: r.row, Line: r.line, Reason: fmt.Sprintf(format, args...)}
}

func (r *reader) header() ([]string, error) {
	if strings.Trim(r.rest, "\r\n") == "" {
		return nil, r.wrong("it is missing; the first line must name the columns")
	}
	cells, err := r.cells()
	names, seen := make([]string, len(cells)), map[string]bool{}
	for i, cell := range cells {
		name := strings.TrimSpace(cell.Text)
		if name == "" {
			return nil, r.wrong("column %d has no name", i+1)
		}
		if seen[name] {
			return nil, r.wrong("two columns have the name %.100q", name)
		}
		names[i], seen[name] = name, true
	}
	return names, err
}

// cells returns the next row.
func (r *reader) cells() (cells []Cell, err error) {
	r.line, r.lines = r.line+r.lines, 0
	if strings.HasPrefix(r.rest, "\n") || strings.HasPrefix(r.rest, "\r\n") {
		return nil, r.wrong("the line is empty")
	}
	for {
		quoted := strings.HasPrefix(r.rest, `"`)
		cell, err := r.cell()
		if err != nil {
			return nil, err
		}
		if !utf8.ValidString(cell) {
			return nil, r.wrong("column %d is not valid UTF-8", len(cells)+1)
		}
		if strings.ContainsRune(cell, 0) {
			return nil, r.wrong("column %d contains the character NUL", len(cells)+1)
		}
		cells = append(cells, Cell{Text: unguard(cell), Null: cell == null && !quoted})
		switch {
		case r.rest == "" || r.skip("\r\n") || r.skip("\n"):
			r.lines++
			return cells, nil
		case !r.skip(","):
			stray, _ := utf8.DecodeRuneInString(r.rest)
			return nil, r.wrong("column %d has %q where a comma or the end of the line belongs", len(cells), stray)
		}
	}
}

func (r *reader) skip(text string) (found bool) {
	r.rest, found = strings.CutPrefix(r.rest, text)
	return found
}

// cell returns the next cell and leaves what ends it.
func (r *reader) cell() (string, error) {
	if !r.skip(`"`) {
		end := strings.IndexAny(r.rest, ",\r\n\"")
		if end < 0 {
			end = len(r.rest)
		}
		cell := r.rest[:end]
		r.rest = r.rest[end:]
		return cell, nil
	}
	var cell strings.Builder
	for {
		part, rest, closed := strings.Cut(r.rest, `"`)
		if !closed {
			return "", r.wrong("a quoted cell has no closing quote")
		}
		cell.WriteString(part)
		r.lines += strings.Count(part, "\n")
		if r.rest = rest; !r.skip(`"`) {
			return cell.String(), nil
		}
		cell.WriteByte('"')
	}
}
