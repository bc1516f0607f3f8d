package schema

// Enum returns the schema of a string that is one of the values.
func Enum[T ~string](values ...T) *Schema {
	s := &Schema{Type: String}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}
