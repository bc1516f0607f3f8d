package schema

import (
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/text"
)

// meant returns the Hint for an unknown member of an object; aliases come
// first.
func (s *Schema) meant(name string) string {
	names := make([]string, len(s.Properties))
	for i, p := range s.Properties {
		names[i] = p.Name
		if slices.Contains(p.aliases, name) {
			return "; did you mean " + p.Name + "?"
		}
	}
	return Hint(name, names)
}

// Hint returns how a message about an unknown name goes on: with the name that
// was probably meant, or with those that there are when they are not too many.
func Hint(unknown string, names []string) string {
	if hint := didYouMean(unknown, names); hint != "" {
		return hint
	}
	if len(names) > 0 && len(names) <= 40 {
		return "; known are " + strings.Join(names, ", ")
	}
	return ""
}

// didYouMean returns a hint at the name that is most like the unknown one, or
// "" when none is.
func didYouMean(unknown string, names []string) string {
	if name := text.Nearest(unknown, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// oneOf lists admitted values for a message.
func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}
