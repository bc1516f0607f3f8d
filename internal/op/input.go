package op

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
)

// An input is a struct whose fields are tagged `path:"name"` or
// `query:"name"`, and whose field Body, if any, is the JSON body; a field of type
// Upload takes a multipart body instead. huma's tags
// (doc, enum, minimum, maxLength, pattern, format, …) describe and validate.

// inputSpec is what an operation's input type says.
type inputSpec struct {
	parameters []parameter
	body       *huma.Schema // nil: the operation takes no JSON body
	upload     []int        // the field that takes an upload; nil for none
}

type parameter struct {
	name     string
	in       string // path or query
	field    []int  // nil for the pipeline's own (limit, cursor)
	required bool
	// allowEmpty: an empty value means something.
	allowEmpty bool
	doc        string
	schema     *huma.Schema
}

const (
	defaultLimit = 50
	maxLimit     = 100
)

func (s *Service) inputOf(t reflect.Type, o Op) inputSpec {
	var spec inputSpec
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		if f.Name == "Body" {
			spec.body = s.registry.Schema(f.Type, true, f.Type.Name())
			continue
		}
		if f.Type == reflect.TypeFor[Upload]() {
			spec.upload = f.Index
			continue
		}
		p := parameter{field: f.Index, in: "path", name: f.Tag.Get("path"), required: true, doc: f.Tag.Get("doc")}
		if p.name == "" {
			p.in, p.name, p.required = "query", f.Tag.Get("query"), f.Tag.Get("required") == "true"
		}
		if p.name == "" {
			panic(fmt.Sprintf("%s: input field %s has neither a path nor a query tag", o.ID, f.Name))
		}
		p.allowEmpty = f.Tag.Get("allowEmpty") == "true"
		p.schema = huma.SchemaFromField(s.registry, f, f.Name)
		p.schema.Nullable = false
		spec.parameters = append(spec.parameters, p)
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
	low, high := 1.0, float64(cmp.Or(pageLimit, maxLimit))
	limit := &huma.Schema{Type: huma.TypeInteger, Minimum: &low, Maximum: &high, Default: defaultLimit}
	longest := 1024
	text := &huma.Schema{Type: huma.TypeString, MaxLength: &longest}
	limit.PrecomputeMessages()
	text.PrecomputeMessages()
	spec.parameters = append(spec.parameters,
		parameter{name: "limit", in: "query", doc: "How many rows a page has.", schema: limit},
		parameter{name: "cursor", in: "query", doc: "pagination.nextCursor of the page before.", schema: text})
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
		if err != nil || len(value) > 500 || !utf8.ValidString(value) || strings.ContainsRune(value, 0) || len(c.service.validate(p.schema, parsed, "")) > 0 {
			return false
		}
		c.path[p.name] = value
	}
	return true
}

// parseQuery parses and validates the query: no unknown, repeated or malformed
// parameters.
func (c *callContext) parseQuery() error {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return fault.New(fault.InvalidRequest, "The query is malformed.")
	}
	c.query = map[string]any{}
	for _, p := range c.row.input.parameters {
		if p.in != "query" {
			continue
		}
		given, ok := values[p.name]
		delete(values, p.name)
		switch {
		case !ok && p.required:
			return fault.InvalidQuery(p.name, "the parameter is required")
		case !ok:
			continue
		case len(given) > 1:
			return fault.InvalidQuery(p.name, "the parameter is repeated")
		case !utf8.ValidString(given[0]) || strings.ContainsRune(given[0], 0):
			return fault.InvalidQuery(p.name, "the value is not valid UTF-8 text")
		}
		v, err := p.parse(given[0])
		if err != nil {
			return fault.InvalidQuery(p.name, "%s", err)
		}
		if details := c.service.validate(p.schema, v, ""); len(details) > 0 {
			return fault.InvalidQuery(p.name, "%s", details[0].Message)
		}
		c.query[p.name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		return fault.InvalidQuery(strings.ToValidUTF8(name, "\uFFFD"), "the parameter is unknown")
	}
	return nil
}

// parse reads a parameter's text as its schema's type.
func (p *parameter) parse(text string) (any, error) {
	switch p.schema.Type {
	case huma.TypeInteger:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || strconv.FormatInt(n, 10) != text {
			return nil, fmt.Errorf("expected an integer")
		}
		return float64(n), nil
	case huma.TypeBoolean:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("expected true or false")
		}
		return text == "true", nil
	default:
		if text == "" && !p.allowEmpty {
			return nil, fmt.Errorf("the value is empty")
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
			return nil, fault.InvalidQuery(p.name, "%s", err)
		}
	}
	if field := c.row.input.upload; field != nil {
		v.FieldByIndex(field).Set(reflect.ValueOf(c.upload))
	}
	if c.row.input.body != nil {
		if err := json.Unmarshal(c.body, v.FieldByName("Body").Addr().Interface()); err != nil {
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

// decodeFault turns a body that fits its schema but not its Go type (1.0 for
// an integer, a date-time out of range) into a refusal.
func decodeFault(err error) error {
	path, message := "", "the value is out of range, or a whole number is not written as one"
	if semantic, ok := asSemantic(err); ok {
		path = string(semantic.JSONPointer)
	}
	return fault.Invalid(path, "invalid", "%s", message)
}

// validate checks a parsed value against a schema. base is the JSON Pointer of
// the value.
func (s *Service) validate(schema *huma.Schema, v any, base string) []fault.Detail {
	path, result := huma.NewPathBuffer(make([]byte, 0, 64), 0), &huma.ValidateResult{}
	huma.Validate(s.registry, schema, path, huma.ModeWriteToServer, v, result)
	var details []fault.Detail
	for _, err := range result.Errors {
		d, ok := err.(*huma.ErrorDetail)
		if !ok {
			d = &huma.ErrorDetail{Message: err.Error()}
		}
		pointer, message := pointerOf(d.Location), d.Message
		code := "invalid"
		if message == validation.MsgUnexpectedProperty {
			continue // inspect tells its place exactly
		}
		if name, ok := strings.CutPrefix(message, "expected required property "); ok {
			code, message = "required", "the field is required"
			pointer += "/" + strings.TrimSuffix(name, " to be present")
		}
		details = append(details, fault.Detail{Path: base + pointer, Code: code, Message: message})
	}
	return append(details, s.inspect(schema, v, base)...)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// inspect finds what huma does not tell well enough: unknown members, whose
// names may look like paths, and nulls in optional fields that may be absent
// but not null, which it lets pass.
func (s *Service) inspect(schema *huma.Schema, v any, base string) (details []fault.Detail) {
	schema = s.resolve(schema)
	switch v := v.(type) {
	case map[string]any:
		if schema.AdditionalProperties == false {
			for name := range v {
				if schema.Properties[name] == nil {
					details = append(details, fault.Detail{Path: base + "/" + pointerEscapes.Replace(name), Code: "unknown_field", Message: "the field is unknown"})
				}
			}
		}
		for name, property := range schema.Properties {
			value, present := v[name]
			if !present {
				continue
			}
			at := base + "/" + name
			if value != nil {
				details = append(details, s.inspect(property, value, at)...)
			} else if target := s.resolve(property); !target.Nullable && target.Type != "" && !slices.Contains(schema.Required, name) {
				details = append(details, fault.Detail{Path: at, Code: "invalid", Message: "the field must not be null"})
			}
		}
	case []any:
		if schema.Items != nil {
			for i, value := range v {
				details = append(details, s.inspect(schema.Items, value, base+"/"+strconv.Itoa(i))...)
			}
		}
	}
	return details
}

func (s *Service) resolve(schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = s.registry.SchemaFromRef(schema.Ref)
	}
	return schema
}

// pointerOf turns huma's a.b[0].c into a JSON Pointer.
func pointerOf(location string) string {
	if location == "" {
		return ""
	}
	var b strings.Builder
	for _, part := range strings.Split(location, ".") {
		name, index, indexed := strings.Cut(part, "[")
		if name != "" {
			b.WriteString("/" + pointerEscapes.Replace(name))
		}
		for indexed {
			var digits string
			digits, index, indexed = strings.Cut(index, "[")
			b.WriteString("/" + strings.TrimSuffix(digits, "]"))
		}
	}
	return b.String()
}

// header returns a request header that must not be repeated.
func header(r *http.Request, name string) (value string, present bool, err error) {
	values := r.Header.Values(name)
	if len(values) > 1 {
		return "", true, fault.New(fault.InvalidRequest, "The header %s is repeated.", name)
	}
	if len(values) == 0 {
		return "", false, nil
	}
	return values[0], true, nil
}
