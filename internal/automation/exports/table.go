package exports

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/csvtable"
)

// asCSV writes records with a column for each of their JSON members, in the
// order of the type. Objects and lists are JSON in their cells, null is empty.
func asCSV[T any](records []T) (string, error) {
	header := columns(reflect.TypeFor[T]())
	rows := make([][]string, len(records))
	for i := range records {
		text, err := json.Marshal(&records[i])
		if err != nil {
			return "", err
		}
		if rows[i], err = cells(text, len(header)); err != nil {
			return "", err
		}
	}
	return csvtable.Write(header, rows), nil
}

// columns returns the names of a type's JSON members, those of embedded structs in their
// place. What Waymark adds to the contract is in lists only.
func columns(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous && f.Tag.Get("extension") == "" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// cells returns the values of an object's members in their order.
func cells(object []byte, n int) ([]string, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil { // {
		return nil, err
	}
	row := make([]string, 0, n)
	for d.PeekKind() != '}' {
		if _, err := d.ReadToken(); err != nil { // the name
			return nil, err
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		switch value.Kind() {
		case 'n':
			row = append(row, "")
		case '"':
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, err
			}
			row = append(row, text)
		default:
			row = append(row, string(value))
		}
	}
	return row, nil
}
