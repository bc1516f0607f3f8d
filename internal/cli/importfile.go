package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/csvtable"
)

// The bounds of a file, and of a part of it, which becomes an import.
const (
	maxFile     = 256 << 20
	maxFileRows = 1_000_000
	partRows    = 50
	partBytes   = 24_000
	// partBody bounds the request, in which the content is a JSON text.
	partBody = 32 << 10
)

// linkFile is a file of links.
type linkFile struct {
	format  string // csv or json
	columns []string
	rows    []linkRow
}

// linkRow has the values of a row by its columns: csvtable.Cell in CSV, else what JSON has.
type linkRow struct {
	number int // from 1
	values map[string]any
}

// readLinks reads a file of links: CSV, or JSON with a list of objects.
func readLinks(name string, content []byte) (*linkFile, error) {
	text := strings.TrimPrefix(string(content), "\ufeff")
	read := readCSVLinks
	if start := strings.TrimSpace(text); strings.HasPrefix(start, "[") || strings.HasPrefix(start, "{") {
		read = readJSONLinks
	}
	f, err := read(text)
	if err == nil && len(f.rows) == 0 {
		err = usage("it has no links")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func readCSVLinks(text string) (*linkFile, error) {
	header, rows, err := csvtable.Read(text, maxFileRows)
	if err != nil {
		return nil, err
	}
	f := &linkFile{format: "csv", columns: header}
	for i, cells := range rows {
		row := linkRow{number: i + 1, values: map[string]any{}}
		for j, c := range cells {
			row.values[header[j]] = c
		}
		f.rows = append(f.rows, row)
	}
	return f, nil
}

// readJSONLinks takes a list, or an object that has one list among its members, as the answers of
// other products are.
func readJSONLinks(text string) (*linkFile, error) {
	var whole any
	if err := decode([]byte(text), &whole); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	list, ok := whole.([]any)
	if object, isObject := whole.(map[string]any); isObject {
		for _, v := range object {
			if inner, isList := v.([]any); isList {
				if ok {
					return nil, usage("it has several lists: leave only the list of links")
				}
				list, ok = inner, true
			}
		}
	}
	if !ok {
		return nil, usage("it has no list of links")
	}
	f := &linkFile{format: "json"}
	for i, v := range list {
		values, isObject := v.(map[string]any)
		if !isObject {
			return nil, usage(fmt.Sprintf("item %d of the list is not an object", i+1))
		}
		// Bitly names a link on a domain of its owner apart.
		if own, _ := values["custom_bitlinks"].([]any); len(own) > 0 {
			values["link"] = own[0]
		}
		for column := range values {
			if !slices.Contains(f.columns, column) {
				f.columns = append(f.columns, column)
			}
		}
		f.rows = append(f.rows, linkRow{i + 1, values})
	}
	slices.Sort(f.columns)
	return f, nil
}

// part is what becomes one import: its rows, and their content as the API takes it.
type part struct {
	rows    []int // their numbers in the file
	content string
}

// parts divides the file. Of its columns only those of the mapping are kept. Rows that are too
// large for an import alone are returned apart.
func (f *linkFile) parts(m mapping, https bool) (all []part, tooLarge []int) {
	var columns []string
	for _, c := range f.columns {
		if m.field(c) != "" {
			columns = append(columns, c)
		}
	}
	head := ""
	if f.format == "csv" {
		head = csvtable.Write(columns, nil)
	}
	var pieces []string
	var next part
	// What the part has so far, in bytes: as content, and as JSON text in the request beside its
	// other members.
	headSize, headBody := len(head)+2, len(asText(head))+len(asText(m))+256
	size, body := headSize, headBody
	end := func() {
		if len(pieces) > 0 {
			next.content = f.content(head, pieces)
			all = append(all, next)
		}
		pieces, next, size, body = nil, part{}, headSize, headBody
	}
	for _, row := range f.rows {
		piece := f.piece(columns, f.convert(row, m, columns, https))
		more, moreBody := len(piece)+1, len(asText(piece))
		if len(pieces) == partRows || size+more > partBytes || body+moreBody > partBody {
			end()
		}
		if size+more > partBytes || body+moreBody > partBody {
			tooLarge = append(tooLarge, row.number)
			continue
		}
		pieces, next.rows = append(pieces, piece), append(next.rows, row.number)
		size, body = size+more, body+moreBody
	}
	end()
	return all, tooLarge
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what was read from JSON or CSV can be written
	}
	return string(text)
}

// piece is the text of one row in the content of an import.
func (f *linkFile) piece(columns []string, row linkRow) string {
	if f.format == "json" {
		return asText(row.values)
	}
	cells := make([]csvtable.Cell, len(columns))
	for i, c := range columns {
		cells[i] = row.values[c].(csvtable.Cell)
	}
	return csvtable.Rows([][]csvtable.Cell{cells})
}

// content is the content of an import with these rows.
func (f *linkFile) content(head string, pieces []string) string {
	if f.format == "json" {
		return "[" + strings.Join(pieces, ",") + "]"
	}
	return head + strings.Join(pieces, "")
}

// convert returns a row with values as the API takes them. Other products write instants and truth
// in ways of their own.
func (f *linkFile) convert(row linkRow, m mapping, columns []string, https bool) linkRow {
	converted := linkRow{row.number, map[string]any{}}
	for _, c := range columns {
		field := m.field(c)
		switch v := row.values[c].(type) {
		case csvtable.Cell:
			if !v.Null {
				v.Text = asField(field, v.Text, https)
			}
			converted.values[c] = v
		case string:
			switch text := asField(field, v, https); {
			case text == "": // as an empty cell
			case field == "lifecycle.archived" || field == "webOnly":
				converted.values[c] = text == "true"
			default:
				converted.values[c] = text
			}
		case json.Number:
			if isInstant(field) {
				converted.values[c] = asField(field, v.String(), https)
			} else {
				converted.values[c] = v
			}
		case nil:
		default:
			converted.values[c] = v
		}
	}
	return converted
}

func isInstant(field string) bool {
	return field == "lifecycle.startsAt" || field == "lifecycle.expiresAt"
}

// asField returns a text as a field takes it. What is not understood stays, and is refused by the
// server with the reason.
func asField(field, text string, https bool) string {
	switch field {
	case "lifecycle.startsAt", "lifecycle.expiresAt":
		return asInstant(text)
	case "lifecycle.archived", "webOnly":
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "1", "yes", "true":
			return "true"
		case "0", "no", "false":
			return "false"
		}
	case "desktopUrl", "imageUrl", "playStoreUrl", "appStoreUrl", "lifecycle.expiredUrl":
		if rest, found := strings.CutPrefix(strings.TrimSpace(text), "http://"); https && found {
			return "https://" + rest
		}
	}
	return text
}

var digits = regexp.MustCompile(`^[0-9]{9,13}$`)

// asInstant returns an instant in UTC: of seconds or milliseconds since 1970, or of a date and a
// time of day without a zone.
func asInstant(text string) string {
	trimmed := strings.TrimSpace(text)
	if digits.MatchString(trimmed) {
		n, err := strconv.ParseInt(trimmed, 10, 64)
		if err != nil {
			return text
		}
		if len(trimmed) > 11 {
			return time.UnixMilli(n).UTC().Format(time.RFC3339)
		}
		return time.Unix(n, 0).UTC().Format(time.RFC3339)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04",
		time.DateOnly} {
		if at, err := time.Parse(layout, trimmed); err == nil {
			return at.UTC().Format("2006-01-02T15:04:05.999Z07:00")
		}
	}
	return text
}
