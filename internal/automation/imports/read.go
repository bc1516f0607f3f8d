package imports

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
)

// read returns the rows of a body's content with the fields that they give, and
// the constants of its mapping, which are in the rows already.
func read(b *CreateImport) ([]row, map[string]jsontext.Value, error) {
	if len(b.Content) > maxContent {
		return nil, nil, fault.Invalid("/content", fault.ReasonTooLarge,
			"the content has %d bytes, at most %d are allowed; split the file", len(b.Content), maxContent)
	}
	if strings.ContainsRune(b.Content, utf8.RuneError) {
		return nil, nil, fault.Invalid("/content", fault.ReasonInvalid,
			"the content has the character U+FFFD, which stands for bytes that were not UTF-8; convert the file to "+
				"UTF-8 before you upload it")
	}
	parse := readCSV
	if b.Format == "json" {
		parse = readJSON
	}
	rows, p, err := parse(b.Content, b.Mapping.Value)
	if err == nil {
		err = p.problems.Refusal()
	}
	if err == nil && len(rows) == 0 {
		err = fault.Invalid("/content", fault.ReasonTooFew, "the content has no links")
	}
	if err != nil {
		return nil, nil, err
	}
	for n := range rows {
		for field, value := range p.constants {
			rows[n].complete(field, value)
		}
	}
	return rows, p.constants, nil
}

func readCSV(content string, mapping Mapping) ([]row, *plan, error) {
	header, table, err := csvtable.Read(content, maxRows)
	var wrong *csvtable.Error
	if errors.As(err, &wrong) && wrong.TooMany {
		return nil, nil, fault.Invalid("/content", fault.ReasonTooMany,
			"the content has more than %d links, at most %d are allowed; split the file", maxRows, maxRows)
	}
	if err != nil {
		return nil, nil, fault.Invalid("/content", fault.ReasonInvalid, "the content is not valid CSV: %s", err)
	}
	if len(header) == 1 {
		if at := strings.IndexAny(header[0], ";\t|"); at >= 0 {
			return nil, nil, fault.Invalid("/content", fault.ReasonInvalid,
				"the cells are separated by %q, not by commas; save the file as CSV with commas", header[0][at])
		}
	}
	p := newPlan(header, mapping, true)
	rows := make([]row, len(table))
	for n, cells := range table {
		rows[n].values = map[string]jsontext.Value{}
		for i, cell := range cells {
			if field, used := p.fieldOf[header[i]]; used {
				rows[n].read(field, cell)
			}
		}
	}
	return rows, p, nil
}

// read sets a field from its cell. An empty cell sets nothing.
func (r *row) read(field string, cell csvtable.Cell) {
	switch {
	case cell.Null:
		r.give(field, jsontext.Value("null"))
	case cell.Text != "":
		r.set(field, cell.Text)
	}
}

// set puts the value of a cell into the row as JSON.
func (r *row) set(field, cell string) {
	switch fields[field] {
	case boolean:
		lower := strings.ToLower(cell) // spreadsheets write TRUE
		if lower != "true" && lower != "false" {
			r.wrong(field, fault.ReasonWrongType, "%s is neither true, false nor empty", quote(cell))
			return
		}
		r.values[field] = jsontext.Value(lower)
	case integer:
		n, err := strconv.ParseFloat(cell, 64) // spreadsheets write 5.0 and 1E+06
		if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			r.wrong(field, fault.ReasonWrongType, "%s is not a whole number", quote(cell))
			return
		}
		r.values[field] = jsontext.Value(strconv.FormatInt(int64(n), 10))
	case object:
		value := jsontext.Value(cell)
		if !value.IsValid() || value.Kind() != '{' || op.DeeperThan(value, op.MaxDepth) {
			r.wrong(field, fault.ReasonWrongType, "%s is not a JSON object", quote(cell))
			return
		}
		r.values[field] = value
	default:
		r.values[field] = asJSON(cell)
	}
}

func readJSON(content string, mapping Mapping) ([]row, *plan, error) {
	content = strings.TrimPrefix(content, "\ufeff")
	var objects []map[string]jsontext.Value
	if err := json.Unmarshal([]byte(content), &objects); err != nil {
		return nil, nil, fault.Invalid("/content", fault.ReasonInvalid,
			"the content must be a JSON array of objects: %s", reason(err))
	}
	if op.DeeperThan([]byte(content), op.MaxDepth) {
		return nil, nil, fault.Invalid("/content", fault.ReasonInvalid, "the content nests deeper than %d levels",
			op.MaxDepth)
	}
	if len(objects) > maxRows {
		return nil, nil, fault.Invalid("/content", fault.ReasonTooMany,
			"the content has %d links, at most %d are allowed; split the file", len(objects), maxRows)
	}
	all := map[string]bool{}
	for n, o := range objects {
		if o == nil {
			return nil, nil, fault.Invalid("/content", fault.ReasonInvalid,
				"the content must be a JSON array of objects: the value at /%d is null", n)
		}
		for name := range o {
			all[name] = true
		}
	}
	p := newPlan(sorted(all), mapping, false)
	rows := make([]row, len(objects))
	for n, o := range objects {
		rows[n].values = map[string]jsontext.Value{}
		for name, value := range o {
			if field, used := p.fieldOf[name]; used {
				rows[n].give(field, value)
			}
		}
	}
	return rows, p, nil
}

// give sets a field to a JSON value. A null for a part of the address sets
// nothing: that part may come from elsewhere.
func (r *row) give(field string, value jsontext.Value) {
	if part := field == "domain" || field == "prefix" || field == "slug"; !part || value.Kind() != 'n' {
		r.values[field] = value
	}
}

// reason describes why a text is not the JSON that it should be, without
// quoting it.
func reason(err error) string {
	meaning, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return op.SyntaxMessage(err)
	case meaning.JSONPointer != "":
		return "the value at " + string(meaning.JSONPointer) + " is not an object"
	}
	return "it is not an array"
}
