package imports

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/fault"
)

// read returns the rows of a body's content with the fields that they give.
func read(b *CreateImport) ([]row, error) {
	if len(b.Content) > maxContent {
		return nil, fault.Invalid("/content", "too_large", "the content has %d bytes, the most are %d", len(b.Content), maxContent)
	}
	if strings.ContainsRune(b.Content, utf8.RuneError) {
		return nil, fault.Invalid("/content", "invalid", "the content has the character U+FFFD, which stands for what could not be read: was the file not UTF-8?")
	}
	parse := readCSV
	if b.Format == "json" {
		parse = readJSON
	}
	rows, err := parse(b.Content, b.Mapping.Value)
	if err == nil && len(rows) == 0 {
		err = fault.Invalid("/content", "too_short", "the content has no links")
	}
	return rows, err
}

func readCSV(content string, mapping map[string]string) ([]row, error) {
	header, table, err := csvtable.Read(content, maxRows)
	var wrong *csvtable.Error
	if errors.As(err, &wrong) && wrong.TooMany {
		return nil, fault.Invalid("/content", "too_long", "the content has more than %d links, the most that an import may have", maxRows)
	}
	if err != nil {
		return nil, fault.Invalid("/content", "invalid", "the content is not valid CSV: %s", err)
	}
	if len(header) == 1 {
		if at := strings.IndexAny(header[0], ";\t|"); at >= 0 {
			return nil, fault.Invalid("/content", "invalid", "the cells are separated by %q, not by commas: save the file as CSV with commas", header[0][at])
		}
	}
	fieldOf, p := columns(header, mapping, true)
	if err := p.refusal(); err != nil {
		return nil, err
	}
	rows := make([]row, len(table))
	for n, cells := range table {
		rows[n].values = map[string]jsontext.Value{}
		for i, cell := range cells {
			if field, used := fieldOf[header[i]]; used && cell != "" {
				rows[n].set(field, cell)
			}
		}
	}
	return rows, nil
}

// set puts the value of a cell into the row as JSON.
func (r *row) set(field, cell string) {
	switch fields[field] {
	case boolean:
		if cell != "true" && cell != "false" {
			r.wrong(field, "invalid", "%s is neither true, false nor empty", quote(cell))
			return
		}
		r.values[field] = jsontext.Value(cell)
	case integer:
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil {
			r.wrong(field, "invalid", "%s is not a whole number", quote(cell))
			return
		}
		r.values[field] = jsontext.Value(strconv.FormatInt(n, 10))
	case object:
		value := jsontext.Value(cell)
		if !value.IsValid() || value.Kind() != '{' || tooDeep(value) {
			r.wrong(field, "invalid", "%s is not a JSON object", quote(cell))
			return
		}
		r.values[field] = value
	default:
		r.values[field] = asJSON(cell)
	}
}

func readJSON(content string, mapping map[string]string) ([]row, error) {
	content = strings.TrimPrefix(content, "\ufeff")
	var objects []map[string]jsontext.Value
	if err := json.Unmarshal([]byte(content), &objects); err != nil {
		return nil, fault.Invalid("/content", "invalid", "the content must be a JSON array of objects: %s", reason(err))
	}
	if tooDeep(jsontext.Value(content)) {
		return nil, fault.Invalid("/content", "invalid", "the content nests deeper than %d levels", maxDepth)
	}
	if len(objects) > maxRows {
		return nil, fault.Invalid("/content", "too_long", "the content has %d links, the most are %d", len(objects), maxRows)
	}
	all := map[string]bool{}
	for n, o := range objects {
		if o == nil {
			return nil, fault.Invalid("/content", "invalid", "the content must be a JSON array of objects: the value at /%d is null", n)
		}
		for name := range o {
			all[name] = true
		}
	}
	fieldOf, p := columns(sorted(all), mapping, false)
	if err := p.refusal(); err != nil {
		return nil, err
	}
	rows := make([]row, len(objects))
	for n, o := range objects {
		rows[n].values = map[string]jsontext.Value{}
		for name, value := range o {
			field, used := fieldOf[name]
			if part := field == "domain" || field == "prefix" || field == "slug"; used && !(part && value.Kind() == 'n') {
				rows[n].values[field] = value // an address may come from elsewhere
			}
		}
	}
	return rows, nil
}

// maxDepth is how deeply JSON may nest, as in bodies.
const maxDepth = 32

// tooDeep reports whether valid JSON nests deeper than it may.
func tooDeep(v jsontext.Value) bool {
	for d := jsontext.NewDecoder(bytes.NewReader(v)); ; {
		if _, err := d.ReadToken(); err != nil {
			return false
		}
		if d.StackDepth() > maxDepth {
			return true
		}
	}
}

// reason describes why a text is not the JSON that it should be, without
// quoting it.
func reason(err error) string {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "an object has the same member twice"
	case errors.As(err, &syntax):
		return "it is malformed at byte " + strconv.FormatInt(syntax.ByteOffset, 10)
	case errors.As(err, &meaning) && meaning.JSONPointer != "":
		return "the value at " + string(meaning.JSONPointer) + " is no object"
	}
	return "it is no array"
}
