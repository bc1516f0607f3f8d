package schema

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/text"
)

// Registry makes schemas from Go types and keeps those of structs, which others
// refer to by name.
//
// The name of a struct's schema is its SchemaName, else the type's own. Programs
// that were generated from the contract carry it for ever: no name depends on
// another, and two types that claim one name stop the program at its start.
//
// A field is a property under the name of its json tag; it is required unless
// that tag says omitzero or omitempty. A pointer may be null. Further tags of a
// field:
//
//	doc        what the field is for
//	format     uuid, date-time (both checked), uri, idn-hostname
//	enum       the admitted strings or whole numbers, separated by commas
//	pattern    a regular expression, anchored by itself
//	minLength maxLength minimum maximum minItems maxItems uniqueItems maxProperties
//	default    what an absent field counts as
//	example    a value to show, as JSON or, for a string, as it is
//	aliases    other names that people send, for "did you mean"
//	controls   "allowed": a string of any characters, for content such as CSV
//	extension  "true": Waymark's own addition to the contract, marked x-waymark-extension
//
// On a slice, the tags for strings and numbers hold for its items.
type Registry struct {
	// Members completes fields by their name with a description, an example,
	// MaxLength and MaxItems, where their own tags say nothing.
	Members map[string]Schema
	// Examples are values for single members, by schema and member
	// (ApiKey.prefix). They replace the examples of the tags; nil shows null.
	Examples map[string]any

	closed    bool
	types     map[reflect.Type]*Schema
	schemas   map[string]*Schema
	described map[reflect.Type]*Schema
}

// ForRequests returns an empty registry whose structs admit no unknown members:
// a misspelt member is refused, not ignored.
func ForRequests() *Registry {
	r := ForAnswers()
	r.closed = true
	return r
}

// ForAnswers returns an empty registry whose structs may get more members in a
// later version: clients must accept unknown ones.
func ForAnswers() *Registry {
	return &Registry{types: map[reflect.Type]*Schema{}, schemas: map[string]*Schema{},
		described: map[reflect.Type]*Schema{}}
}

// Describe sets the schema of a type that cannot be a Provider: one that stands
// below this package.
func (r *Registry) Describe(t reflect.Type, s *Schema) { r.described[t] = s.Ready() }

// Provider is a type that describes itself.
type Provider interface {
	Schema(*Registry) *Schema
}

// Merge returns the named schemas of requests and of answers. A schema that
// both use is closed in requests and open in answers, which takes two schemas:
// the name of the one for requests ends in Input.
func Merge(requests, answers *Registry) map[string]*Schema {
	all := maps.Clone(answers.schemas)
	for name, s := range requests.schemas {
		s.Name = name
		if answers.schemas[name] != nil {
			s.Name += "Input"
		}
		if all[s.Name] != nil {
			panic("schema: two schemas are called " + s.Name)
		}
		all[s.Name] = s
	}
	return all
}

// For returns the schema of a type: a reference for a named struct.
func (r *Registry) For(t reflect.Type) *Schema {
	if t.Kind() == reflect.Pointer {
		s := *r.For(t.Elem())
		s.Nullable = true
		return &s
	}
	if s, ok := r.described[t]; ok {
		described := *s
		return &described
	}
	switch t {
	case reflect.TypeFor[text.Line]():
		return &Schema{Type: String, MinLength: Of(1), text: line}
	case reflect.TypeFor[text.Block]():
		return &Schema{Type: String, text: block}
	case reflect.TypeFor[jsontext.Value]():
		return &Schema{}
	}
	if t.Implements(reflect.TypeFor[Provider]()) {
		provided := reflect.Zero(t).Interface().(Provider).Schema(r).Ready()
		if n, ok := reflect.Zero(t).Interface().(Named); ok {
			return r.Name(n.SchemaName(), provided)
		}
		return provided
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &Schema{Type: String}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: Boolean}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &Schema{Type: Integer}
	case reflect.Float64:
		return &Schema{Type: Number}
	case reflect.String:
		return &Schema{Type: String}
	case reflect.Slice, reflect.Array:
		return &Schema{Type: Array, Items: r.For(t.Elem())}
	case reflect.Map:
		return &Schema{Type: Object, Values: r.For(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return r.object(t, "")
		}
		return r.named(t)
	}
	panic(fmt.Sprintf("schema: no schema for %s", t))
}

// Named is a type whose schema has another name than the type.
type Named interface{ SchemaName() string }

// named returns a reference to the schema of a struct. The schema is kept before
// it is made, so that a type may hold itself.
func (r *Registry) named(t reflect.Type) *Schema {
	target, known := r.types[t]
	if !known {
		target = &Schema{}
		r.types[t] = target
		name := nameOf(t)
		for other, s := range r.types {
			if s.Name == name {
				panic(fmt.Sprintf("schema: %s and %s are both called %s; give one of them another SchemaName", other, t,
					name))
			}
		}
		target.Name = name
		r.keep(target)
		*target = *r.object(t, name)
	}
	return &Schema{target: target}
}

// Name keeps a schema that was made by hand under a name and returns a reference
// to it. The same schema may be named more than once.
func (r *Registry) Name(name string, s *Schema) *Schema {
	s.Name = name
	if known, ok := r.schemas[name]; ok && reflect.DeepEqual(known, s) {
		return &Schema{target: known}
	}
	r.keep(s)
	return &Schema{target: s}
}

func (r *Registry) keep(s *Schema) {
	if _, taken := r.schemas[s.Name]; taken {
		panic("schema: two schemas are called " + s.Name)
	}
	r.schemas[s.Name] = s
}

// nameOf returns the name of a struct's schema. A SchemaName that is promoted
// from an embedded struct does not count.
func nameOf(t reflect.Type) string {
	own := schemaName(t)
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && own == schemaName(f.Type) {
			own = ""
		}
	}
	if own == "" {
		own = strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	}
	if strings.ContainsRune(own, '[') {
		panic(fmt.Sprintf("schema: the generic type %s needs a SchemaName", t))
	}
	return own
}

func schemaName(t reflect.Type) string {
	if n, ok := reflect.Zero(t).Interface().(Named); ok {
		return n.SchemaName()
	}
	return ""
}

func (r *Registry) object(t reflect.Type, name string) *Schema {
	s := &Schema{Name: name, Type: Object, Closed: r.closed, Properties: r.properties(t)}
	for i := range s.Properties {
		p := &s.Properties[i]
		if example, ok := r.Examples[name+"."+p.Name]; ok {
			p.Example, p.null = example, example == nil
		}
	}
	return s.Ready()
}

// properties returns the members of a struct; those of embedded structs stand
// where they are embedded.
func (r *Registry) properties(t reflect.Type) []Property {
	all := []Property{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, r.properties(f.Type)...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			panic(fmt.Sprintf("schema: %s.%s has no json name", t, f.Name))
		}
		// an outer field hides an embedded one
		all = slices.DeleteFunc(all, func(p Property) bool { return p.Name == name })
		p := Property{Name: name, Required: !strings.Contains(options, "omit"), Schema: r.Field(f, name)}
		if options == "omitempty" && f.Type.Kind() == reflect.Pointer {
			p.Nullable = false // an answer leaves it out instead
		}
		all = append(all, p)
	}
	return all
}

// Field returns the schema of a struct's field, which its tags complete. name
// is the member's or parameter's.
func (r *Registry) Field(f reflect.StructField, name string) *Schema {
	s := *r.For(f.Type)
	if err := s.apply(f.Tag); err != nil {
		panic(fmt.Sprintf("schema: field %s (%s): %v", f.Name, name, err))
	}
	if m, ok := r.Members[name]; ok {
		s.fill(&m)
	}
	s.bound()
	return s.Ready()
}
