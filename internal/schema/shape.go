package schema

// maxShape is how many characters, items or members the values of a Shape may
// have: as many as the largest body.
const maxShape = 32 << 10

// Shape returns a schema of the same members and types, without the rules for
// their values: for an operation whose answer reports which rules are broken.
func (s *Schema) Shape() *Schema {
	nullable := s.Nullable
	s = s.Resolve()
	shape := &Schema{Type: s.Type, Nullable: nullable || s.Nullable, Description: s.Description, Example: s.Example,
		Closed: s.Closed, aliases: s.aliases, shown: s.shown}
	switch s.Type {
	case String:
		shape.MaxLength, shape.text = Of(maxShape), free
	case Integer:
		shape.Minimum, shape.Maximum = Of(-float64(MaxWhole)), Of(float64(MaxWhole))
	case Array:
		shape.Items, shape.MaxItems = s.Items.Shape(), Of(maxShape)
	case Object:
		for _, p := range s.Properties {
			shape.Properties = append(shape.Properties, Property{Name: p.Name, Required: p.Required,
				Schema: p.Schema.Shape()})
		}
		if !s.Closed {
			shape.MaxProperties = Of(maxShape)
		}
		if s.Values != nil {
			shape.Values = s.Values.Shape()
		}
	}
	return shape.Ready()
}
