package csvtable

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/csvtable/csvtest"
)

// texts returns what the cells of rows say.
func texts(rows [][]Cell) [][]string {
	all := make([][]string, len(rows))
	for n, row := range rows {
		for _, cell := range row {
			all[n] = append(all[n], cell.Text)
		}
	}
	return all
}

func TestRead(t *testing.T) {
	for text, want := range map[string][][]string{
		"a,b\n1,2\n":                        {{"a", "b"}, {"1", "2"}},
		"\ufeffa,b\r\n1,2\r\n3,4":           {{"a", "b"}, {"1", "2"}, {"3", "4"}},
		"a\n":                               {{"a"}},
		"a, b \n 1 , 2 \n":                  {{"a", "b"}, {" 1 ", " 2 "}},
		"a,b\n\"1,2\",\"3\"\"4\"\n":         {{"a", "b"}, {"1,2", `3"4`}},
		"a,b\n\"1\r\n2\n3\r4\",\n":          {{"a", "b"}, {"1\r\n2\n3\r4", ""}},
		"a,b\n1,2\n\r\n\n":                  {{"a", "b"}, {"1", "2"}},
		"a\n\"\"\n\"\"":                     {{"a"}, {""}, {""}},
		"a,b\n,\n":                          {{"a", "b"}, {"", ""}},
		"\"a\",\"b\"\n\"\",\"\"\"\"\n":      {{"a", "b"}, {"", `"`}},
		"a,b\n'=1+1,' -2\n'text,''=3\n":     {{"a", "b"}, {"=1+1", "' -2"[1:]}, {"'text", "'=3"}},
		"a,b\n=1+1,\u00a0\u2028\n\ufeff1,2": {{"a", "b"}, {"=1+1", "\u00a0\u2028"}, {"\ufeff1", "2"}},
	} {
		header, rows, err := Read(text, 3)
		if got := slices.Concat([][]string{header}, texts(rows)); err != nil ||
			!slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
}

// A cell is null only where it says so without quotes; what Write writes never
// is.
func TestNull(t *testing.T) {
	_, rows, err := Read("a\nnull\n\"null\"\nNULL\n null\n'null\n\"\"\n", 6)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []Cell{{"null", true}, {"null", false}, {"NULL", false}, {" null", false}, {"'null", false},
		{"", false}} {
		if rows[n][0] != want {
			t.Errorf("row %d is %v, want %v", n+1, rows[n][0], want)
		}
	}
	cells := []Cell{{"", true}, {"null", false}, {"", false}, {"text", true}}
	text := Rows([][]Cell{cells})
	if want := "null,\"null\",,null\r\n"; text != want {
		t.Errorf("cells without a value are written as %q, want %q", text, want)
	}
	if text := Write([]string{"null"}, [][]string{{"null"}}); text != "\ufeff\"null\"\r\n\"null\"\r\n" {
		t.Errorf("null is written as %q", text)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "the header: it is missing; the first line must name the columns",
		"\ufeff\r\n":             "the header: it is missing; the first line must name the columns",
		"\na,b\n":                "the header: the line is empty",
		"a,,b\n":                 "the header: column 2 has no name",
		"a, \n":                  "the header: column 2 has no name",
		"a,b, a\n":               `the header: two columns have the name "a"`,
		"a\x00,b\n":              "the header: column 1 contains the character NUL",
		"a,b\n1,2\n1\n":          "row 2 (line 3): the row has 1 cells, the header has 2",
		"a,b\n1,2,3\n":           "row 1 (line 2): the row has 3 cells, the header has 2",
		"a,b\n\n1,2\n":           "row 1 (line 2): the line is empty",
		"a\n\n1\n":               "row 1 (line 2): the line is empty",
		"a\r\n\r\n1\r\n":         "row 1 (line 2): the line is empty",
		"a,b\n\"1\n\n2\",3\n4\n": "row 2 (line 5): the row has 1 cells, the header has 2",
		"a,b\n1,\xff\n":          "row 1 (line 2): column 2 is not valid UTF-8",
		"a,b\n1,\"\x00\"\n":      "row 1 (line 2): column 2 contains the character NUL",
		"a,b\n1,2\"\n":           "row 1 (line 2): column 2 has '\"' where a comma or the end of the line belongs",
		"a,b\n1, \"2\"\n":        "row 1 (line 2): column 2 has '\"' where a comma or the end of the line belongs",
		"a,b\n\"1\"2,3\n":        "row 1 (line 2): column 1 has '2' where a comma or the end of the line belongs",
		"a,b\n1,\"2\n3,4\n":      "row 1 (line 2): a quoted cell has no closing quote",
		"a,b\r1,2\r":             `the header: column 2 has '\r' where a comma or the end of the line belongs`,
		"a\n1\n2\n3\n4\n":        "row 4 (line 5): there are more than 3 rows",
	} {
		if _, _, err := Read(text, 3); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// hostile are cells that spreadsheets could take for formulas, or that break
// careless writers, and how they are written.
var hostile = []struct{ cell, written string }{
	{"=1+1", "'=1+1"}, {"+1+1", "'+1+1"}, {"-1+1", "'-1+1"}, {"@SUM(1)", "'@SUM(1)"}, {"=", "'="}, {"-", "'-"},
	{"-5", "'-5"}, {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
	{`=HYPERLINK("https://evil.example","x")`, `"'=HYPERLINK(""https://evil.example"",""x"")"`},
	{"＝1+1", "'＝1+1"}, {"＋1+1", "'＋1+1"}, {"－1+1", "'－1+1"}, {"＠SUM(1)", "'＠SUM(1)"}, {"−1+1", "−1+1"},
	// What does not count at the start.
	{" =1+1", "' =1+1"}, {"  =1+1", "'  =1+1"}, {"\x01=1+1", "'\x01=1+1"}, {"\x7f=1+1", "'\x7f=1+1"},
	{"\u00a0=1+1", "'\u00a0=1+1"}, {"\u200b=1+1", "'\u200b=1+1"}, {"\ufeff=1+1", "'\ufeff=1+1"},
	{"\u2028=1+1", "'\u2028=1+1"}, {"'=1+1", "''=1+1"}, {"''=1+1", "'''=1+1"}, {"' =1+1", "'' =1+1"},
	{"\t=1+1", "\"'\t'=1+1\""}, {"\r=1+1", "\"'\r'=1+1\""}, {"\n=1+1", "\"'\n'=1+1\""},
	{"\r\n=1+1", "\"'\r'\n'=1+1\""}, {"\u200b\t \n'=1+1", "\"'\u200b\t' \n''=1+1\""},
	{`"=1+1"`, `"""=1+1"""`}, {`=1+1"`, `"'=1+1"""`}, {`=1+1","=2+2`, `"'=1+1"",""=2+2"`},
	// What separates cells where a comma does not.
	{";=1+1", `";'=1+1"`}, {"a;=1+1", `"a;'=1+1"`}, {"a;+1+1", `"a;'+1+1"`}, {"a;-1+1", `"a;'-1+1"`},
	{"a;@SUM(1)", `"a;'@SUM(1)"`}, {"a;＝1+1", `"a;'＝1+1"`}, {"a\t=1+1", "\"a\t'=1+1\""},
	{"a\r=1+1", "\"a\r'=1+1\""}, {"a\n=1+1", "\"a\n'=1+1\""}, {"a; \u200b=1+1", "\"a;' \u200b=1+1\""},
	{"a;;\t=1+1;b", "\"a;;'\t'=1+1;b\""}, {"=1;=2\n=3", "\"'=1;'=2\n'=3\""}, {"=1\r\n+1", "\"'=1\r'\n'+1\""},
	{"a;'=1", `"a;''=1"`}, {`a;"=1+1`, `"a;'""=1+1"`}, {`a;"";=1+1;"`, `"a;"""";'=1+1;"""`},
	// What is no formula.
	{"", ""}, {"text", "text"}, {"a,b", `"a,b"`}, {`a"b`, `"a""b"`}, {"a\r\nb", "\"a\r\nb\""}, {" spaces ", `" spaces "`},
	{"tab\there", "\"tab\there\""}, {"1-1", "1-1"}, {"a=b", "a=b"}, {"a;b=1", `"a;b=1"`}, {"a, =1", `"a, =1"`},
	{"'text", "'text"}, {"a;'b", `"a;'b"`}, {"null", `"null"`}, {"héllo wörld ✓", "héllo wörld ✓"}, {"|=1+1", "|=1+1"},
}

func TestWrite(t *testing.T) {
	text := Write([]string{"=a", "b"}, [][]string{{"=1", "-1"}, {"a,b", `say "hi"`}, {"", "x\r\ny"}})
	if want := "\ufeff'=a,b\r\n'=1,'-1\r\n\"a,b\",\"say \"\"hi\"\"\"\r\n,\"x\r\ny\"\r\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if text := Write([]string{"a"}, [][]string{{""}}); text != "\ufeffa\r\n\"\"\r\n" {
		t.Errorf("an empty row is %q", text)
	}
	for _, h := range hostile {
		text := Write([]string{"cell", "end"}, [][]string{{h.cell, "end"}})
		if want := "\ufeffcell,end\r\n" + h.written + ",end\r\n"; text != want {
			t.Errorf("%q is written as %q, want %q", h.cell, text, want)
		}
		if _, rows, err := Read(text, 1); err != nil || rows[0][0] != (Cell{Text: h.cell}) || rows[0][1].Text != "end" {
			t.Errorf("%q is read back as %v, %v", h.cell, rows, err)
		}
	}
}

// A spreadsheet sees texts, not formulas, and the very texts: it takes the
// apostrophe at the start for its own mark of a text.
func TestSpreadsheet(t *testing.T) {
	var rows [][]string
	for i, h := range hostile {
		rows = append(rows, []string{"n" + strconv.Itoa(i), h.cell})
	}
	cells := csvtest.Open(t, Write([]string{"n", "cell"}, rows))
	for i, h := range hostile {
		got := cells[[2]int{i + 1, 1}]
		if got.Formula() {
			t.Errorf("%q is a formula: %q", h.cell, got.Text)
		}
		// XML has no control characters, and line ends of its own.
		if strings.ContainsAny(h.cell, "\r\x01\x7f") {
			continue
		}
		if want, begins := strings.CutPrefix(guard(h.cell), "'"); got.Text != want && (begins || got.Text != h.cell) {
			t.Errorf("%q is shown as %q, want %q", h.cell, got.Text, want)
		}
	}
	// The spreadsheet would see a formula where nothing protects it.
	if !csvtest.Open(t, "n,cell\r\nn0,=1+1\r\n")[[2]int{1, 1}].Formula() {
		t.Error("the spreadsheet sees no formula where there is one")
	}
}

// Nor does a spreadsheet see a formula where a semicolon or a tab separates cells, and a
// comma does not.
func TestSpreadsheetWithoutCommas(t *testing.T) {
	for _, separator := range []string{";", "\t"} {
		var rows [][]string
		var unguarded strings.Builder
		for _, h := range hostile {
			// The last cell tells the spreadsheet what separates them.
			rows = append(rows, []string{"n", h.cell, "x" + strings.Repeat(separator, 9) + "x"})
			unguarded.WriteString("n,a" + separator + "=1+1" + strings.Repeat(separator, 8) + "\r\n")
		}
		cells := csvtest.OpenWithoutCommas(t, Write([]string{"n", "cell", "end"}, rows))
		for place, cell := range cells {
			if cell.Formula() {
				t.Errorf("separated by %q the cell %v is a formula: %q", separator, place, cell.Text)
			}
		}
		if first, want := cells[[2]int{1, 0}].Text, `n,'=1+1,"x`; first != want {
			t.Errorf("separated by %q the first cell is %q, want %q", separator, first, want)
		}
		if !csvtest.OpenWithoutCommas(t, unguarded.String())[[2]int{0, 1}].Formula() {
			t.Errorf("separated by %q the spreadsheet sees no formula where there is one", separator)
		}
	}
}

// What Read accepts comes back from Write and Read as it was; what it refuses
// it refuses with a place and a reason.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\ufeff\"a\",b\r\n\"1\r\n\"\"\",'=2\r\n", "a\n\"\"\n", "a,b\n1,\xff",
		"a\n\n", "a,a\n", "a\n\"1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		header, rows, err := Read(text, 50)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Row < 0 || e.Line < 1 || e.Reason == "" ||
				!utf8.ValidString(err.Error()) {
				t.Errorf("%q is refused with %#v", text, err)
			}
			return
		}
		again, same, err := Read(Write(header, texts(rows)), 50)
		if err != nil || !slices.Equal(again, header) || !slices.EqualFunc(texts(same), texts(rows), slices.Equal) {
			t.Errorf("%q is read as %q %q and then as %q %q, %v", text, header, texts(rows), again, texts(same), err)
		}
	})
}

// Every table comes back from Write and Read as it was.
func FuzzWrite(f *testing.F) {
	for _, h := range hostile {
		f.Add(h.cell, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || strings.ContainsRune(a+b, 0) {
			return
		}
		rows := [][]string{{a, b}, {b, a}}
		_, got, err := Read(Write([]string{"a", "b"}, rows), 2)
		if err != nil || !slices.EqualFunc(texts(got), rows, slices.Equal) || got[0][0].Null || got[0][1].Null {
			t.Errorf("%q is read back as %v, %v", rows, got, err)
		}
	})
}
