package schema

// Inline returns a schema that stands for itself: what it refers to by name stands
// where it is used. A schema that refers to itself has no such form.
func (s *Schema) Inline() *Schema {
	inline := *s.Resolve()
	inline.Name, inline.Nullable = "", inline.Nullable || s.Nullable
	if s.Description != "" {
		inline.Description = s.Description
	}
	if s.Example != nil {
		inline.Example = s.Example
	}
	if inline.Items != nil {
		inline.Items = inline.Items.Inline()
	}
	if inline.Values != nil {
		inline.Values = inline.Values.Inline()
	}
	inline.Properties, inline.AnyOf = nil, nil
	for _, p := range s.Resolve().Properties {
		inline.Properties = append(inline.Properties, Property{Name: p.Name, Required: p.Required,
			Schema: p.Schema.Inline()})
	}
	for _, alternative := range s.Resolve().AnyOf {
		inline.AnyOf = append(inline.AnyOf, alternative.Inline())
	}
	return &inline
}
