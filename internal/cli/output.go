package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/client"
	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/text"
)

// shape is how rows are shown.
type shape struct {
	Output  string   `short:"o" enum:"table,json,csv," default:"" help:"table, json or csv; default: table on a terminal, json elsewhere." placeholder:"FORMAT"`
	Columns []string `help:"Members to show in a table or CSV, such as id,lifecycle.archived; default: some in a table, all in CSV." placeholder:"NAME"`
}

func (s *shape) format() string {
	switch {
	case s.Output != "":
		return s.Output
	case term.IsTerminal(int(os.Stdout.Fd())):
		return "table"
	}
	return "json"
}

// print shows rows; a table has the columns of the first list unless others were asked for, CSV
// those of the second.
func (s *shape) print(some, all []string, rows ...json.RawMessage) error {
	w, err := s.writer(stdout, some, all)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.row(row); err != nil {
			return err
		}
	}
	return w.close()
}

// writer shows rows one after the other.
type writer struct {
	out     io.Writer
	format  string
	columns []string
	table   table
	rows    int
}

func (s *shape) writer(out io.Writer, some, all []string) (*writer, error) {
	if err := s.check(all); err != nil {
		return nil, err
	}
	w := &writer{out: out, format: s.format(), columns: all}
	if w.format == "table" {
		w.columns = some
	}
	if len(s.Columns) > 0 {
		w.columns = s.Columns
	}
	return w, nil
}

// check refuses columns that no row has. A member of an object is one, and so is the whole object.
func (s *shape) check(all []string) error {
	for _, name := range s.Columns {
		if !slices.ContainsFunc(all, func(known string) bool {
			return name == known || strings.HasPrefix(name, known+".") || strings.HasPrefix(known, name+".")
		}) {
			return usage(fmt.Sprintf("there is no column %q%s (the columns are %s)", name, meant(text.Nearest(name, all)),
				strings.Join(all, ", ")))
		}
	}
	return nil
}

// row shows one row, a JSON object.
func (w *writer) row(object json.RawMessage) error {
	w.rows++
	if w.format == "json" {
		return w.item(object)
	}
	var row map[string]any
	if err := decode(object, &row); err != nil {
		return fmt.Errorf("read a row of the answer: %w", err)
	}
	cells := w.cells(row)
	if w.format == "csv" {
		if w.rows == 1 {
			if _, err := io.WriteString(w.out, csvtable.Write(w.columns, nil)); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w.out, csvtable.Rows([][]csvtable.Cell{csvtable.Texts(cells...)}))
		return err
	}
	if w.rows == 1 {
		w.table.add(w.columns...)
	}
	for i, cell := range cells {
		cells[i] = shorten(cell)
	}
	w.table.add(cells...)
	return nil
}

// item writes a row as an item of a JSON array, which begins with the first. Its members stay in
// their order, its numbers as they are written.
func (w *writer) item(object json.RawMessage) error {
	text := bytes.NewBufferString(",\n  ")
	if w.rows == 1 {
		text = bytes.NewBufferString("[\n  ")
	}
	if err := json.Indent(text, object, "  ", "  "); err != nil {
		return fmt.Errorf("read a row of the answer: %w", err)
	}
	_, err := w.out.Write(text.Bytes())
	return err
}

// end ends what the rows began. A list that failed before its first row shows nothing, as an empty list
// would be another answer.
func (w *writer) end(err error) error {
	if err != nil && w.rows == 0 {
		return err
	}
	return errors.Join(err, w.close())
}

func (w *writer) close() error {
	switch {
	case w.format == "table":
		return w.table.write(w.out)
	case w.format == "csv":
		if w.rows > 0 {
			return nil
		}
		_, err := io.WriteString(w.out, csvtable.Write(w.columns, nil))
		return err
	case w.rows == 0:
		_, err := io.WriteString(w.out, "[]\n")
		return err
	}
	_, err := io.WriteString(w.out, "\n]\n")
	return err
}

func (w *writer) cells(row map[string]any) []string {
	cells := make([]string, len(w.columns))
	for i, column := range w.columns {
		cells[i] = cell(lookUp(row, column))
	}
	return cells
}

// lookUp returns the value that a dotted name leads to.
func lookUp(row any, name string) any {
	for part := range strings.SplitSeq(name, ".") {
		object, ok := row.(map[string]any)
		if !ok {
			return nil
		}
		row = object[part]
	}
	return row
}

// cell is a value as a text; null and what is missing are empty.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	text, err := encode(v)
	if err != nil {
		return ""
	}
	return text
}

// longestCell bounds a cell of a table, in characters.
const longestCell = 60

// shorten keeps a cell in its line and its column.
func shorten(cell string) string {
	letters := []rune(strings.Map(harmless, strings.NewReplacer("\n", " ", "\t", " ").Replace(cell)))
	if len(letters) > longestCell {
		return string(letters[:longestCell-1]) + "…"
	}
	return string(letters)
}

// stdout is the standard output. What owners and servers wrote cannot command a terminal.
var stdout = printer(os.Stdout)

func printer(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return transform.NewWriter(f, runes.Map(harmless))
}

// harmless returns a space for a character that would command a terminal, or hide what is there.
func harmless(r rune) rune {
	if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
		return ' '
	}
	return r
}

// tell tells a person.
func tell(format string, args ...any) {
	fmt.Fprintln(os.Stderr, strings.Map(harmless, fmt.Sprintf(format, args...)))
}

// Tell tells a person of a failure, in one line also where a driver wrote several. What is wrong with other parts
// of a request follows, each in a line.
func Tell(err error) {
	tell("waymark: %s", strings.Join(strings.Fields(err.Error()), " "))
	var refused *client.Error
	if !errors.As(err, &refused) || len(refused.Details) < 2 {
		return
	}
	for _, d := range refused.Details[1:] { // the first is the message
		tell("  %s: %s", d.Path, strings.Join(strings.Fields(d.Message), " "))
	}
}

// encode returns a value as JSON, with & and < as they are.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// decode reads one JSON value with its numbers as they are written.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more follows after the value")
	}
	return nil
}

// telling are members that tell one resource from another, in the order in which a table has them.
var telling = []string{"id", "clientId", "name", "title", "email", "url", "slug", "hostname", "host", "type", "kind",
	"event", "action", "status", "state", "version", "method", "path", "dimension", "value", "clicks", "count", "desktopUrl",
	"createdAt"}

// tableWidth is how many columns a table has unless more are asked for.
const tableWidth = 7

// columnsOf returns the columns of a table and of CSV for rows of a schema. Objects with members of
// their own have a column for each.
func columnsOf(s *api.Schema) (some, all []string) {
	for _, m := range s.Members {
		if m.Type != "object" || len(m.Members) == 0 {
			all = append(all, m.Name)
			continue
		}
		for _, inner := range m.Members {
			all = append(all, m.Name+"."+inner.Name)
		}
	}
	for _, name := range append(slices.Clone(telling), all...) {
		if len(some) < tableWidth && slices.Contains(all, name) && !slices.Contains(some, name) {
			some = append(some, name)
		}
	}
	return some, all
}

// value shows one value, which is no list of the contract.
func (s *shape) value(of *api.Schema, data json.RawMessage) error {
	var row map[string]any
	if s.format() == "json" || decode(data, &row) != nil {
		var text bytes.Buffer
		if err := json.Indent(&text, data, "", "  "); err != nil {
			return fmt.Errorf("read the data of the answer: %w", err)
		}
		_, err := fmt.Fprintln(stdout, text.String())
		return err
	}
	_, all := columnsOf(of)
	if err := s.check(all); err != nil {
		return err
	}
	if s.format() == "csv" {
		return s.print(all, all, data)
	}
	if len(s.Columns) > 0 {
		all = s.Columns
	}
	var t table
	for _, name := range all {
		if v := cell(lookUp(row, name)); v != "" {
			t.add(name, shorten(v))
		}
	}
	return t.write(stdout)
}

// each calls a function for every row of a list, page by page, until it wants no more.
func each(ctx context.Context, c *client.Client, r client.Request, do func(row json.RawMessage) (more bool, err error)) error {
	for a, err := range c.Pages(ctx, r) {
		var page []json.RawMessage
		if err == nil {
			err = a.Data(&page)
		}
		if err != nil {
			return err
		}
		for _, row := range page {
			if more, err := do(row); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// count is a number of things, in words.
func count(n int, thing string) string {
	return fmt.Sprintf("%d %s", n, plural(n, thing))
}

// plural returns the word for so many things.
func plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}
