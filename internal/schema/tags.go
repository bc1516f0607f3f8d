package schema

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// apply completes a schema by the tags of its field.
func (s *Schema) apply(tag reflect.StructTag) error {
	if doc := tag.Get("doc"); doc != "" {
		s.Description = doc
	}
	if s.target != nil {
		return nil
	}
	// An array's items are what tags for strings and numbers describe.
	one := s
	if s.Type == Array && s.Items.target == nil {
		items := *s.Items
		s.Items, one = &items, &items
	}
	if v := tag.Get("format"); v != "" {
		one.Format = v
	}
	if v := tag.Get("pattern"); v != "" {
		one.Pattern = v
	}
	if v := tag.Get("enum"); v != "" {
		one.Enum = strings.Split(v, ",")
	}
	if v := tag.Get("aliases"); v != "" {
		s.aliases = strings.Split(v, ",")
	}
	if tag.Get("controls") == "allowed" {
		one.text = free
	}
	s.Extension = tag.Get("extension") == "true"
	s.UniqueItems = s.UniqueItems || tag.Get("uniqueItems") == "true"
	for name, into := range map[string]**int{
		"minLength": &one.MinLength, "maxLength": &one.MaxLength,
		"minItems": &s.MinItems, "maxItems": &s.MaxItems, "maxProperties": &s.MaxProperties,
	} {
		if v, ok := tag.Lookup(name); ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("tag %s: %w", name, err)
			}
			*into = &n
		}
	}
	for name, into := range map[string]**float64{"minimum": &one.Minimum, "maximum": &one.Maximum} {
		if v, ok := tag.Lookup(name); ok {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return fmt.Errorf("tag %s: %w", name, err)
			}
			*into = &n
		}
	}
	_, s.shown = tag.Lookup("example")
	for name, into := range map[string]*any{"default": &s.Default, "example": &s.Example} {
		if v, ok := tag.Lookup(name); ok {
			value, err := s.read(v)
			if err != nil {
				return fmt.Errorf("tag %s: %w", name, err)
			}
			*into = value
		}
	}
	if one.Enum != nil && one.Type != String && one.Type != Integer {
		return errors.New("tag enum is for strings and whole numbers")
	}
	for _, name := range []string{"pattern", "minLength", "maxLength"} {
		if _, ok := tag.Lookup(name); ok && one.Type != String {
			return fmt.Errorf("tag %s is for strings", name)
		}
	}
	return nil
}

// read reads a value of a tag: a string as it is, anything else as JSON.
func (s *Schema) read(text string) (any, error) {
	if s.Type == String {
		return text, nil
	}
	var v any
	err := json.Unmarshal([]byte(text), &v)
	return v, err
}

// fill takes from m what s does not say itself, unless they are of different
// types.
func (s *Schema) fill(m *Schema) {
	if s.Description == "" {
		s.Description = m.Description
	}
	if s.target != nil || s.Type != m.Type {
		return
	}
	if s.Enum != nil || s.Const != nil || s.Format != "" && s.Format != "uri" && s.Format != "idn-hostname" {
		return
	}
	if s.Example == nil && s.Pattern == "" {
		s.Example = m.Example
	}
	orElse(&s.MaxLength, m.MaxLength)
	orElse(&s.MaxItems, m.MaxItems)
	if s.Type == Array && s.Items.target == nil && m.Items != nil {
		items := *s.Items
		items.fill(m.Items)
		s.Items = items.Ready()
	}
}

// MaxWhole is the largest whole number that every JSON reader keeps exactly.
const MaxWhole = 1<<53 - 1

// bound adds the bounds that a type or format has by itself.
func (s *Schema) bound() {
	switch {
	case s.Type == Integer:
		orElse(&s.Minimum, Of(0.0))
		orElse(&s.Maximum, Of(float64(MaxWhole)))
	case s.Type == Array && s.Items.target == nil:
		items := *s.Items
		items.bound()
		s.Items = items.Ready()
	case s.Type == String && s.Enum == nil:
		if longest, ok := formatLength[s.Format]; ok {
			orElse(&s.MaxLength, &longest)
		}
	}
}

func orElse[T any](bound **T, other *T) {
	if *bound == nil {
		*bound = other
	}
}
