// Package csvtest has a real spreadsheet (Gnumeric) open CSV in tests.
package csvtest

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Cell is what the spreadsheet made of a cell.
type Cell struct {
	Row, Col int    `xml:",attr"`
	Type     string `xml:"ValueType,attr"`
	Text     string `xml:",chardata"`
}

// Formula reports that the spreadsheet took the cell for a formula: then it has
// no type of value.
func (c Cell) Formula() bool { return c.Text != "" && c.Type == "" }

// Open has the spreadsheet read a text and returns its cells by row and column.
func Open(t testing.TB, text string) map[[2]int]Cell {
	t.Helper()
	return open(t, text, "in.csv", "LC_ALL=C.UTF-8")
}

// OpenWithoutCommas is Open in a country where the comma is the decimal sign. There the
// spreadsheet separates cells by semicolons or tabs, whichever there are more of.
func OpenWithoutCommas(t testing.TB, text string) map[[2]int]Cell {
	t.Helper()
	const locale = "de_DE.UTF-8"
	folder := t.TempDir()
	if said, err := exec.Command("localedef", "-i", "de_DE", "-f", "UTF-8",
		filepath.Join(folder, locale)).CombinedOutput(); err != nil {
		t.Fatalf("localedef: %v: %s: run scripts/tools", err, said)
	}
	// In a file .csv it would take commas nevertheless.
	return open(t, text, "in.txt", "LC_ALL="+locale, "LOCPATH="+folder)
}

func open(t testing.TB, text, name string, locale ...string) map[[2]int]Cell {
	t.Helper()
	if _, err := exec.LookPath("ssconvert"); err != nil {
		t.Fatal("ssconvert is missing: run scripts/tools")
	}
	in, out := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "out.xml")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("ssconvert", "--import-type=Gnumeric_stf:stf_csvtab", "--export-type=Gnumeric_XmlIO:sax:0", in,
		out)
	run.Env = append(append(os.Environ(), "HOME="+t.TempDir()), locale...)
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("ssconvert: %v: %s", err, said)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var book struct {
		Cells []Cell `xml:"Sheets>Sheet>Cells>Cell"`
	}
	if err := xml.Unmarshal(content, &book); err != nil {
		t.Fatal(err)
	}
	cells := map[[2]int]Cell{}
	for _, c := range book.Cells {
		cells[[2]int{c.Row, c.Col}] = c
	}
	return cells
}

// NoFormula fails the test where the spreadsheet sees a formula in a text.
func NoFormula(t testing.TB, text string) {
	t.Helper()
	cells := Open(t, text)
	for _, c := range cells {
		if c.Formula() {
			t.Errorf("the spreadsheet sees a formula in row %d, column %d: %s", c.Row, c.Col, c.Text)
		}
	}
	if len(cells) == 0 {
		t.Error("the spreadsheet sees no cell")
	}
}
