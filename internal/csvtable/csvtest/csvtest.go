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
	if _, err := exec.LookPath("ssconvert"); err != nil {
		t.Fatal("ssconvert is missing: run scripts/tools")
	}
	in, out := filepath.Join(t.TempDir(), "in.csv"), filepath.Join(t.TempDir(), "out.xml")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("ssconvert", "--import-type=Gnumeric_stf:stf_csvtab", "--export-type=Gnumeric_XmlIO:sax:0", in,
		out)
	run.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+t.TempDir())
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
