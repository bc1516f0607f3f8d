// Package csvtable reads and writes tables as CSV: strictly, so that no cell is
// guessed, and so that no spreadsheet takes a text for a formula (api-v1.md,
// Exports and Imports).
package csvtable

import (
	"strings"
	"unicode"
)

// bom is the byte order mark by which spreadsheets know UTF-8.
const bom = "\ufeff"

// null is what a cell without a value says when it is not in quotes.
const null = "null"

// Cell is a cell of a table that was read.
type Cell struct {
	Text string
	// Null reports that the text is null without quotes: the cell has no value.
	// Write puts a text that reads so in quotes.
	Null bool
}

// Write returns a table as CSV: with a byte order mark, CRLF, and an apostrophe
// wherever a spreadsheet could see a formula start. Read takes it off again.
func Write(header []string, rows [][]string) string {
	cells := make([][]Cell, 0, len(rows)+1)
	for _, row := range append([][]string{header}, rows...) {
		cells = append(cells, Texts(row...))
	}
	return bom + Rows(cells)
}

// Texts returns cells that have texts.
func Texts(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

// Rows returns rows that may follow what Write returned.
func Rows(rows [][]Cell) string {
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			cell.write(&b, len(row))
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

// write writes a cell of a row of so many.
func (c Cell) write(b *strings.Builder, of int) {
	if c.Null {
		b.WriteString(null)
		return
	}
	cell := guard(c.Text)
	if strings.ContainsAny(cell, ",;\t\"\r\n") || cell == "" && of == 1 || cell == null || cell != strings.TrimSpace(cell) {
		cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
	}
	b.WriteString(cell)
}

// formulaStarts are the characters by which spreadsheets know a formula, with
// their forms in full width.
const formulaStarts = "=+-@＝＋－＠"

// formulas returns the places of a cell where a spreadsheet could see a formula
// start: the cell's start, and what follows a semicolon, a tab or a line break,
// which separate cells where a comma does not.
//
// White space, control and invisible characters do not count, nor after a
// separator quotes, which a spreadsheet then takes for its own. Apostrophes do
// not count either, so that a text which has them before a formula gets one
// more, and reading it back takes off just that one.
func formulas(cell string) (places []int) {
	// waiting are the places after which nothing was found that counts.
	waiting := append(make([]int, 0, 8), 0)
	for i, r := range cell {
		switch {
		case r == ';':
			waiting = append(waiting[:0], i+1)
		case r == '\t' || r == '\r' || r == '\n':
			waiting = append(waiting, i+1)
		case r == '\'' || unicode.IsSpace(r) || unicode.Is(unicode.C, r):
		case r == '"':
			if len(waiting) > 0 && waiting[0] == 0 {
				waiting = waiting[1:]
			}
		default:
			if strings.ContainsRune(formulaStarts, r) {
				places = append(places, waiting...)
			}
			waiting = waiting[:0]
		}
	}
	return places
}

// guard puts an apostrophe before each formula.
func guard(cell string) string {
	var b strings.Builder
	done := 0
	for _, place := range formulas(cell) {
		b.WriteString(cell[done:place] + "'")
		done = place
	}
	return b.String() + cell[done:]
}

// unguard takes off what guard puts there.
func unguard(cell string) string {
	var b strings.Builder
	done := 0
	for _, place := range formulas(cell) {
		b.WriteString(cell[done:place])
		if done = place; strings.HasPrefix(cell[place:], "'") {
			done++
		}
	}
	return b.String() + cell[done:]
}
