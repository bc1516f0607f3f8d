package csvtable_test

import (
	"fmt"

	"github.com/waymarkhq/waymark/internal/csvtable"
)

// A cell that a spreadsheet would take for a formula is written as text, and read as
// it was.
func ExampleWrite() {
	text := csvtable.Write([]string{"slug", "title"}, [][]string{{"sale", "=1+1"}, {"news", "one, two"}})
	fmt.Printf("%q\n", text)
	_, rows, err := csvtable.Read(text, 10)
	fmt.Println(rows[0][1].Text, err)
	// Output:
	// "\ufeffslug,title\r\nsale,'=1+1\r\nnews,\"one, two\"\r\n"
	// =1+1 <nil>
}

// A mistake is told with its place.
func ExampleRead() {
	_, _, err := csvtable.Read("slug,title\nsale,Sale\nnews\n", 10)
	fmt.Println(err)
	// Output: row 2 (line 3): the row has 1 cells, the header has 2
}
