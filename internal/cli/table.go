package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// table lines up cells by the width that a terminal gives them: a Chinese letter is twice as wide as a Latin one,
// which text/tabwriter does not know.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

// write writes the rows, with two spaces between columns.
func (t table) write(out io.Writer) error {
	var widths []int
	for _, cells := range t {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	for _, cells := range t {
		var line strings.Builder
		for i, cell := range cells {
			line.WriteString(cell)
			if i < len(cells)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(out, line.String()); err != nil {
			return err
		}
	}
	return nil
}
