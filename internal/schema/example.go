package schema

// Sample returns a value that the schema admits, to show to people: examples
// where there are any, else what is short and plain. Members that need not be
// sent are part of it where all is set or their field has an example of its own.
func (s *Schema) Sample(all bool) any {
	if s.Example != nil {
		return s.Example
	}
	if s.null || s.Nullable && s.target != nil && !all {
		return nil
	}
	s = s.Resolve()
	switch {
	case s.Example != nil:
		return s.Example
	case s.Const != nil:
		return s.Const
	case s.Default != nil:
		return s.Default
	case s.Enum != nil && s.Type == String:
		return s.Enum[0]
	case s.AnyOf != nil:
		return s.AnyOf[0].Sample(all)
	}
	switch s.Type {
	case Boolean:
		return false
	case Integer, Number:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 0.0
	case Array:
		return []any{s.Items.Sample(all)}
	case Object:
		members := map[string]any{}
		for _, p := range s.Properties {
			if all || p.Required || p.shown {
				members[p.Name] = p.Sample(all)
			}
		}
		return members
	case String:
		switch {
		case s.Format == "uuid":
			return "f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"
		case s.Format == "date-time":
			return "2026-11-20T12:00:00.000Z"
		case s.Format == "uri":
			return "https://example.com/"
		case s.Nullable:
			return nil
		}
		return "text"
	}
	return map[string]any{}
}
