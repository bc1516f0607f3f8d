// Package schema describes JSON values by JSON Schema (2020-12, the part of it
// that the contract uses), makes schemas from Go types, and checks parsed
// values against them.
//
// Types state their rules in struct tags, so that a rule stands beside its
// field, is part of the contract and is checked by the pipeline (see Registry
// for the tags). Check writes its problems for the client: a JSON Pointer, a
// code of package fault, and a sentence that says what is allowed.
//
// It does not decode values, and knows nothing of operations.
package schema

import (
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema is one JSON Schema. The zero Schema admits every value.
type Schema struct {
	// Name is how others refer to the schema in the contract; "" stands where it
	// is used.
	Name string
	// Type is the JSON type, "" for any; with Nullable also null.
	Type     string
	Nullable bool

	Description string
	Format      string
	// Enum are the admitted strings, or whole numbers as they are written.
	Enum []string
	// Const is the one admitted value: a string, a bool or a float64.
	Const       any
	Default     any
	Example     any
	Pattern     string
	MinLength   *int
	MaxLength   *int
	Minimum     *float64
	Maximum     *float64
	Items       *Schema
	MinItems    *int
	MaxItems    *int
	UniqueItems bool
	// Extension marks what is not part of the contract as it was agreed, and may be ignored.
	Extension        bool
	Properties       []Property
	MaxProperties    *int
	ContentMediaType string
	// Closed objects admit no members but their Properties. Of the others, those
	// with Properties may have further ones in a later version of the contract.
	Closed bool
	// Values describes the members of an open object that are no Properties;
	// nil admits anything.
	Values *Schema
	// AnyOf are schemas of which one must hold.
	AnyOf []*Schema

	// text is the rule for the characters of a string.
	text textRule
	// shown puts the field with its own Example into a Sample; null puts null
	// there.
	shown, null bool
	// aliases are names that clients send when they mean a property.
	aliases []string
	// target is the named schema whose rules hold instead; only Description,
	// Example and Nullable may stand beside it.
	target  *Schema
	pattern *regexp.Regexp
	index   map[string]int // of Properties by name
}

// Property is a member of an object.
type Property struct {
	Name     string
	Required bool
	*Schema
}

// The JSON types.
const (
	String  = "string"
	Integer = "integer"
	Number  = "number"
	Boolean = "boolean"
	Array   = "array"
	Object  = "object"
)

// Of returns a pointer to a bound of a schema.
func Of[T int | float64](bound T) *T { return &bound }

// Resolve returns the schema that s refers to, or s.
func (s *Schema) Resolve() *Schema {
	for s.target != nil {
		s = s.target
	}
	return s
}

// Ready readies a schema that was made by hand for Check, and returns it. It
// panics when the pattern is invalid.
func (s *Schema) Ready() *Schema {
	if s.Pattern != "" {
		s.pattern = regexp.MustCompile(s.Pattern)
	}
	if s.Properties != nil {
		s.index = make(map[string]int, len(s.Properties))
		for i, p := range s.Properties {
			s.index[p.Name] = i
		}
	}
	return s
}

// refPrefix is where the schemas of a Registry stand in an OpenAPI document.
const refPrefix = "#/components/schemas/"

// MarshalJSONTo writes s as JSON Schema.
func (s *Schema) MarshalJSONTo(e *jsontext.Encoder) error {
	type ref struct {
		Ref string `json:"$ref"`
	}
	if s.target != nil && !s.Nullable {
		return json.MarshalEncode(e, struct {
			ref
			Description string `json:"description,omitzero"`
		}{ref{refPrefix + s.target.Name}, s.Description})
	}
	if s.target != nil {
		type null struct {
			Type string `json:"type"`
		}
		return json.MarshalEncode(e, struct {
			AnyOf       []any  `json:"anyOf"`
			Description string `json:"description,omitzero"`
		}{[]any{ref{refPrefix + s.target.Name}, null{"null"}}, s.Description})
	}
	out := struct {
		Type                 any        `json:"type,omitzero"`
		Description          string     `json:"description,omitzero"`
		Format               string     `json:"format,omitzero"`
		ContentMediaType     string     `json:"contentMediaType,omitzero"`
		Const                any        `json:"const,omitzero"`
		Enum                 []any      `json:"enum,omitzero"`
		Pattern              string     `json:"pattern,omitzero"`
		MinLength            *int       `json:"minLength,omitzero"`
		MaxLength            *int       `json:"maxLength,omitzero"`
		Minimum              *float64   `json:"minimum,omitzero"`
		Maximum              *float64   `json:"maximum,omitzero"`
		MinItems             *int       `json:"minItems,omitzero"`
		MaxItems             *int       `json:"maxItems,omitzero"`
		UniqueItems          bool       `json:"uniqueItems,omitzero"`
		Items                *Schema    `json:"items,omitzero"`
		Required             []string   `json:"required,omitzero"`
		Properties           properties `json:"properties,omitzero"`
		AdditionalProperties any        `json:"additionalProperties,omitzero"`
		MaxProperties        *int       `json:"maxProperties,omitzero"`
		AnyOf                []*Schema  `json:"anyOf,omitzero"`
		Default              any        `json:"default,omitzero"`
		Examples             []any      `json:"examples,omitzero"`
		Extension            bool       `json:"x-waymark-extension,omitzero"`
	}{
		Extension:   s.Extension,
		Description: s.Description, Format: s.Format, ContentMediaType: s.ContentMediaType, Const: s.Const,
		Pattern: s.Pattern, MinLength: s.MinLength, MaxLength: s.MaxLength, Minimum: s.Minimum, Maximum: s.Maximum,
		MinItems: s.MinItems, MaxItems: s.MaxItems, UniqueItems: s.UniqueItems, Items: s.Items,
		Properties: s.Properties, MaxProperties: s.MaxProperties, AnyOf: s.AnyOf, Default: s.Default,
	}
	if s.Type != "" {
		out.Type = s.Type
	}
	if s.Type != "" && s.Nullable {
		out.Type = [2]string{s.Type, "null"}
	}
	for _, v := range s.Enum {
		if s.Type == Integer {
			out.Enum = append(out.Enum, jsontext.Value(v))
		} else {
			out.Enum = append(out.Enum, v)
		}
	}
	if s.Nullable && s.Enum != nil {
		out.Enum = append(out.Enum, nil)
	}
	for _, p := range s.Properties {
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	switch {
	case s.Closed:
		out.AdditionalProperties = false
	case s.Values != nil:
		out.AdditionalProperties = s.Values
	case s.Type == Object && s.Properties == nil:
		out.AdditionalProperties = true
	}
	if s.Example != nil {
		out.Examples = []any{s.Example}
	}
	return json.MarshalEncode(e, &out)
}

// properties is an object with the members in their order.
type properties []Property

// MarshalJSONTo writes the properties as one object.
func (p properties) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, property := range p {
		if err := e.WriteToken(jsontext.String(property.Name)); err != nil {
			return err
		}
		if err := property.Schema.MarshalJSONTo(e); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}
