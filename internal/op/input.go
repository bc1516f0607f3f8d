package op

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// An input is a struct whose fields are tagged `path:"name"` or
// `query:"name"`, and whose field Body, if any, is the JSON body; a field of type
// Upload takes a multipart body instead. The tags of package schema (doc, enum,
// minimum, maxLength, pattern, format, …) describe and check.

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
	doc        string
	schema     *schema.Schema
}

const (
	defaultLimit = 50
	maxLimit     = 100
)

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
		q.schema = p.requests.Field(f, q.name)
		q.schema.Nullable = false
		spec.parameters = append(spec.parameters, q)
	}
	for _, segment := range strings.Split(o.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			if !slices.ContainsFunc(spec.parameters, func(p parameter) bool { return p.in == "path" && p.name == name }) {
				panic(fmt.Sprintf("%s: the input has no path parameter %s", o.ID, name))
			}
		}
	}
	return spec
}

// addPaging declares the parameters that every list has.
func (spec *inputSpec) addPaging(pageLimit int) {
	most := cmp.Or(pageLimit, maxLimit)
	limit := &schema.Schema{Type: schema.Integer, Minimum: schema.Of(1.0), Maximum: schema.Of(float64(most)), Default: float64(min(defaultLimit, most))}
	text := &schema.Schema{Type: schema.String, MaxLength: schema.Of(1024)}
	spec.parameters = append(spec.parameters,
		parameter{name: "limit", in: "query", doc: "How many rows a page has.", schema: limit},
		parameter{name: "cursor", in: "query", doc: "pagination.nextCursor of the page before, kept for 15 minutes.", schema: text})
}

// parsePath validates path parameters; a malformed id is a resource that does
// not exist.
func (c *callContext) parsePath() bool {
	c.path = map[string]string{}
	for _, p := range c.row.input.parameters {
		if p.in != "path" {
			continue
		}
		value := c.r.PathValue(p.name)
		parsed, err := p.parse(value)
		if err != nil || len(value) > 500 || !utf8.ValidString(value) || strings.ContainsRune(value, 0) || len(p.schema.Check(parsed, "")) > 0 {
			return false
		}
		c.path[p.name] = value
	}
	return true
}

// parseQuery parses and validates the query: no unknown, repeated or malformed
// parameters. One that is absent counts as its default.
func (c *callContext) parseQuery() error {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return fault.New(fault.InvalidRequest, "The query is malformed: a percent sign must be followed by two hexadecimal digits, and ; is not allowed.")
	}
	c.query, c.sent = map[string]any{}, map[string]bool{}
	var names []string
	for _, p := range c.row.input.parameters {
		if p.in != "query" {
			continue
		}
		names = append(names, p.name)
		given, ok := values[p.name]
		delete(values, p.name)
		switch {
		case !ok && p.required:
			return fault.InvalidQuery(p.name, fault.ReasonRequired, "the parameter is required")
		case !ok && p.schema.Default != nil:
			c.query[p.name] = p.schema.Default
			continue
		case !ok:
			continue
		case len(given) > 1:
			return fault.InvalidQuery(p.name, fault.ReasonRepeated, "the parameter is repeated")
		case !utf8.ValidString(given[0]) || strings.ContainsRune(given[0], 0):
			return fault.InvalidQuery(p.name, fault.ReasonInvalidText, "the value is not valid UTF-8 text")
		}
		v, err := p.parse(given[0])
		if err != nil {
			return fault.InvalidQuery(p.name, fault.ReasonWrongType, "%s", err)
		}
		if details := p.schema.Check(v, ""); len(details) > 0 {
			return fault.InvalidQuery(p.name, details[0].Code, "%s", details[0].Message)
		}
		c.query[p.name], c.sent[p.name] = v, true
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		return fault.InvalidQuery(strings.ToValidUTF8(name, "\uFFFD"), fault.ReasonUnknownField, "the parameter is unknown%s", schema.Hint(name, names))
	}
	return nil
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
	v := reflect.ValueOf(in).Elem()
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
			return nil, fault.InvalidQuery(p.name, fault.ReasonInvalidFormat, "%s", err)
		}
	}
	if field := c.row.input.upload; field != nil {
		v.FieldByIndex(field).Set(reflect.ValueOf(c.upload))
	}
	if c.row.input.body != nil {
		if err := Unmarshal(c.body, v.FieldByName("Body").Addr().Interface()); err != nil {
			return nil, decodeFault(err)
		}
	}
	return in, nil
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

// decodeFault turns a body that fits its schema but not its Go type into a
// refusal.
func decodeFault(err error) error {
	path := ""
	if semantic, ok := asSemantic(err); ok {
		path = string(semantic.JSONPointer)
	}
	return fault.Invalid(path, fault.ReasonInvalid, "the value cannot be read")
}

// wholeNumbers has integers read from every spelling of a whole number: 100.0
// and 1e2 as well as 100 (completions.md §11).
var wholeNumbers = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(wholeNumber[int]), json.UnmarshalFromFunc(wholeNumber[int64])))

func wholeNumber[T int | int64](d *jsontext.Decoder, v *T) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*v = T(n)
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return fmt.Errorf("%s is not a whole number", text)
	}
	*v = T(f)
	return nil
}

// header returns a request header, which must not be repeated.
func header(r *http.Request, name string) (value string, present bool, err error) {
	values := r.Header.Values(name)
	if len(values) > 1 {
		return "", true, fault.InvalidHeader(name, fault.ReasonRepeated, "the header is repeated")
	}
	if len(values) == 0 {
		return "", false, nil
	}
	return values[0], true, nil
}
