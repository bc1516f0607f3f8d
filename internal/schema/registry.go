package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/text"
)

// Registry makes schemas from Go types and keeps those of named structs, which
// others refer to by name.
//
// A field is a property under the name of its json tag; it is required unless
// that tag says omitzero or omitempty. A pointer may be null. Structs are
// closed. Further tags of a field:
//
//	doc        what the field is for
//	format     uuid, date-time (both checked), uri
//	enum       the admitted strings, separated by commas
//	pattern    a regular expression, anchored by itself
//	minLength maxLength minimum maximum minItems maxItems uniqueItems maxProperties
//	default    what an absent field counts as
//	example    a value to show, as JSON or, for a string, as it is
//	aliases    other names that people send, for "did you mean"
//	controls   "allowed": a string of any characters, for content such as CSV
//
// On a slice, the tags for strings and numbers hold for its items.
type Registry struct {
	// Members completes fields by their name with a description, an example,
	// MaxLength and MaxItems, where their own tags say nothing.
	Members map[string]Schema

	types     map[reflect.Type]string
	schemas   map[string]*Schema
	described map[reflect.Type]*Schema
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{
		types: map[reflect.Type]string{}, schemas: map[string]*Schema{}, described: map[reflect.Type]*Schema{},
	}
}

// Describe sets the schema of a type that cannot be a Provider: one that stands
// below this package.
func (r *Registry) Describe(t reflect.Type, s *Schema) { r.described[t] = s.Ready() }

// Provider is a type that describes itself.
type Provider interface {
	Schema(*Registry) *Schema
}

// Schemas returns the schemas of named structs by name.
func (r *Registry) Schemas() map[string]*Schema { return r.schemas }

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
		return reflect.Zero(t).Interface().(Provider).Schema(r).Ready()
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
			return r.object(t)
		}
		return r.named(t)
	}
	panic(fmt.Sprintf("schema: no schema for %s", t))
}

// named returns a reference to the schema of a named struct. The name is
// reserved first, so that a type may hold itself.
func (r *Registry) named(t reflect.Type) *Schema {
	name, known := r.types[t]
	if !known {
		name = r.name(t)
		if _, taken := r.schemas[name]; taken {
			panic("schema: two types are called " + name)
		}
		target := &Schema{}
		r.types[t], r.schemas[name] = name, target
		*target = *r.object(t)
	}
	return &Schema{Ref: name, target: r.schemas[name]}
}

// Named is a type whose schema has another name than the type.
type Named interface{ SchemaName() string }

// name is the type's own, with a capital letter. Where two packages use one
// name, the later one's has its package before it.
func (r *Registry) name(t reflect.Type) string {
	if n, ok := reflect.Zero(t).Interface().(Named); ok {
		return n.SchemaName()
	}
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if bracket := strings.IndexByte(name, '['); bracket > 0 { // a generic type: its argument's name follows
		argument := strings.TrimSuffix(name[bracket+1:], "]")
		name = name[:bracket] + argument[strings.LastIndexByte(argument, '.')+1:]
	}
	if _, taken := r.schemas[name]; taken {
		of := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
		name = strings.ToUpper(of[:1]) + of[1:] + name
	}
	return name
}

func (r *Registry) object(t reflect.Type) *Schema {
	s := &Schema{Type: Object, Closed: true, Properties: r.properties(t)}
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
		all = slices.DeleteFunc(all, func(p Property) bool { return p.Name == name }) // an outer field hides an embedded one
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
