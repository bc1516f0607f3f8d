// Package csvtable reads and writes tables as CSV: strictly, so that no cell is
// guessed, and so that no spreadsheet takes a text for a formula (api-v1.md,
// Exports and Imports).
package csvtable

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
// before each cell that could start a formula. Read takes it off again.
func Write(header []string, rows [][]string) string {
	var b strings.Builder
	b.WriteString(bom)
	writeRow(&b, header)
	for _, row := range rows {
		writeRow(&b, row)
	}
	return b.String()
}

func writeRow(b *strings.Builder, cells []string) {
	for i, cell := range cells {
		if i > 0 {
			b.WriteByte(',')
		}
		if startsFormula(cell) {
			cell = "'" + cell
		}
		if strings.ContainsAny(cell, ",\"\r\n") || cell == "" && len(cells) == 1 || cell == null ||
			cell != strings.TrimSpace(cell) {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		b.WriteString(cell)
	}
	b.WriteString("\r\n")
}

// formulaStarts are the characters by which spreadsheets know a formula, with
// their forms in full width.
const formulaStarts = "=+-@＝＋－＠"

// startsFormula reports whether a spreadsheet could take a cell for a formula:
// white space, control and invisible characters at its start do not count.
// Apostrophes at its start do not count either, so that a cell which begins
// with apostrophes and a formula gets one more, and reading it back takes off
// just that one.
func startsFormula(cell string) bool {
	cell = strings.TrimLeft(cell, "'")
	cell = strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.C, r)
	})
	first, _ := utf8.DecodeRuneInString(cell)
	return strings.ContainsRune(formulaStarts, first)
}

// unguard takes off the apostrophe that Write puts before a formula.
func unguard(cell string) string {
	if startsFormula(cell) {
		return strings.TrimPrefix(cell, "'")
	}
	return cell
}
