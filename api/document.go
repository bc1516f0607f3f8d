package api

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// document is the contract with the members of its objects in their order.
type document struct{ root yaml.MapSlice }

func read(contract []byte) (*document, error) {
	d := &document{}
	return d, yaml.NewDecoder(bytes.NewReader(contract), yaml.UseOrderedMap()).Decode(&d.root)
}

// Schema tells which values there are. Schemas that have a name of their own in the contract
// are filled in.
type Schema struct {
	// Type is the JSON type besides null; "" for any.
	Type        string
	Description string
	Enum        []string
	Default     any
	// Items are the items of an array, Members the members of an object in their order.
	Items   *Schema
	Members []Member
}

// Member is a member of an object.
type Member struct {
	Name     string
	Required bool
	*Schema
}

// Member returns a member of an object, nil where it has none of that name.
func (s *Schema) Member(name string) *Schema {
	if s == nil {
		return nil
	}
	for _, m := range s.Members {
		if m.Name == name {
			return m.Schema
		}
	}
	return nil
}

// maxDepth bounds how deep schemas are filled in.
const maxDepth = 8

// schema returns the schema at a place of the document.
func (d *document) schema(from any, depth int) *Schema {
	if from == nil || depth > maxDepth {
		return &Schema{}
	}
	s := &Schema{Description: text(from, "description")}
	from = d.follow(from)
	// Of several shapes, a client is told the first that is not null.
	for _, one := range items(from, "anyOf") {
		if text(d.follow(one), "type") != "null" {
			from = d.follow(one)
			break
		}
	}
	if s.Description == "" {
		s.Description = text(from, "description")
	}
	s.Type, s.Default = text(from, "type"), at(from, "default")
	for _, kind := range items(from, "type") {
		if kind != "null" {
			s.Type = name(kind)
		}
	}
	for _, value := range items(from, "enum") {
		s.Enum = append(s.Enum, name(value))
	}
	if each := at(from, "items"); each != nil {
		s.Items = d.schema(each, depth+1)
	}
	required := items(from, "required")
	for _, p := range object(at(from, "properties")) {
		m := Member{Name: name(p.Key), Schema: d.schema(p.Value, depth+1)}
		for _, r := range required {
			m.Required = m.Required || r == p.Key
		}
		s.Members = append(s.Members, m)
	}
	return s
}

// follow returns what a reference refers to; what is none stays.
func (d *document) follow(v any) any {
	for range maxDepth {
		ref, ok := strings.CutPrefix(text(v, "$ref"), "#/")
		if !ok {
			return v
		}
		v = at(any(d.root), strings.Split(ref, "/")...)
	}
	return nil
}

func (d *document) object(key string) yaml.MapSlice { return object(at(any(d.root), key)) }

// at returns the value that the keys lead to, nil where there is none.
func at(v any, keys ...string) any {
	for _, key := range keys {
		var found any
		for _, m := range object(v) {
			if m.Key == key {
				found = m.Value
			}
		}
		v = found
	}
	return v
}

func object(v any) yaml.MapSlice {
	m, _ := v.(yaml.MapSlice)
	return m
}

func items(v any, key string) []any {
	list, _ := at(v, key).([]any)
	return list
}

func text(v any, key string) string {
	s, _ := at(v, key).(string)
	return s
}

func flag(v any, key string) bool {
	b, _ := at(v, key).(bool)
	return b
}

func name(v any) string { return fmt.Sprint(v) }
