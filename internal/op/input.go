package op

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// An input is a struct whose fields are tagged `path:"name"` or
// `query:"name"`, and whose field Body, if any, is the JSON body; a field of type
// Upload takes a multipart body instead. The tags of package schema (doc, enum,
// minimum, maxLength, pattern, format, …) describe and check.
// heavy:"true" marks a filter that may look at many rows to find few: reads with it take
// turns (Call.Heavy).

// inputSpec is what an operation's input type says.
type inputSpec struct {
	parameters []parameter
	body       *schema.Schema // nil: the operation takes no JSON body
	upload     []int          // the field that takes an upload; nil for none
}

type parameter struct {
	name     string
	in       string // path or query
	field    []int  // nil for the pipeline's own (limit, cursor)
	required bool
	// allowEmpty: an empty value means something.
	allowEmpty bool
	// heavy: a read with this parameter may search for seconds.
	heavy  bool
	doc    string
	schema *schema.Schema
}

func (p *Pipeline) inputOf(t reflect.Type, o Op) inputSpec {
	var spec inputSpec
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		if f.Name == "Body" {
			spec.body = p.requests.For(f.Type)
			continue
		}
		if f.Type == reflect.TypeFor[Upload]() {
			spec.upload = f.Index
			continue
		}
		q := parameter{field: f.Index, in: "path", name: f.Tag.Get("path"), required: true, doc: f.Tag.Get("doc")}
		if q.name == "" {
			q.in, q.name, q.required = "query", f.Tag.Get("query"), f.Tag.Get("required") == "true"
		}
		if q.name == "" {
			panic(fmt.Sprintf("%s: input field %s has neither a path nor a query tag", o.ID, f.Name))
		}
		q.allowEmpty = f.Tag.Get("allowEmpty") == "true"
		q.heavy = f.Tag.Get("heavy") == "true"
		q.schema = p.requests.Field(f, q.name)
		q.schema.Nullable = false
		spec.parameters = append(spec.parameters, q)
	}
	for _, segment := range strings.Split(o.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			if !slices.ContainsFunc(spec.parameters, func(p parameter) bool {
				return p.in == "path" &&
					p.name == name
			}) {
				panic(fmt.Sprintf("%s: the input has no path parameter %s", o.ID, name))
			}
		}
	}
	return spec
}

// parse reads a parameter's text as its schema's type.
func (p *parameter) parse(text string) (any, error) {
	switch p.schema.Type {
	case schema.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != text {
			return nil, errors.New("must be a whole number")
		}
		return float64(n), nil
	case schema.Boolean:
		if text != "true" && text != "false" {
			return nil, errors.New("must be true or false")
		}
		return text == "true", nil
	default:
		if text == "" && !p.allowEmpty {
			return nil, errors.New("must not be empty; leave the parameter out instead")
		}
		return text, nil
	}
}

// decode fills an input from the parsed path, query and body.
func decode[In any](c *callContext) (*In, error) {
	in := new(In)
	err := guarded(c.pipeline.Log, func() error { return c.fill(reflect.ValueOf(in).Elem()) })
	return in, err
}

func (c *callContext) fill(v reflect.Value) error {
	for _, p := range c.row.input.parameters {
		if p.field == nil {
			continue
		}
		f := v.FieldByIndex(p.field)
		if p.in == "path" {
			f.SetString(c.path[p.name])
			continue
		}
		value, ok := c.query[p.name]
		if !ok {
			continue
		}
		if f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		if err := setField(f, value); err != nil {
			return fault.InvalidQuery(p.name, fault.ReasonInvalidFormat, "%s", err)
		}
	}
	if field := c.row.input.upload; field != nil {
		v.FieldByIndex(field).Set(reflect.ValueOf(c.upload))
	}
	if c.row.input.body != nil {
		if err := Unmarshal(c.body, v.FieldByName("Body").Addr().Interface()); err != nil {
			return decodeFault(err)
		}
	}
	return nil
}

func setField(f reflect.Value, value any) error {
	if text, ok := f.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return text.UnmarshalText([]byte(value.(string)))
	}
	switch f.Kind() {
	case reflect.Bool:
		f.SetBool(value.(bool))
	case reflect.Int, reflect.Int64:
		f.SetInt(int64(value.(float64)))
	default:
		f.SetString(value.(string))
	}
	return nil
}
