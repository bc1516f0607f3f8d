package schema

import (
	"slices"
	"strings"
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
// was probably meant, or with those that there are when they are few.
func Hint(unknown string, names []string) string {
	if hint := didYouMean(unknown, names); hint != "" {
		return hint
	}
	if len(names) > 0 && len(names) <= 12 {
		return "; known are " + strings.Join(names, ", ")
	}
	return ""
}

// didYouMean returns a hint at the name that is most like the unknown one, or
// "" when none is.
func didYouMean(unknown string, names []string) string {
	if name := Nearest(unknown, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// longestName is how long a name may be to be compared: the work grows with
// its square, and clients choose the names.
const longestName = 40

// Nearest returns the name that a person most likely meant by an unknown one:
// the same but for letter case and separators, or with the fewest different
// letters; "" when none is near.
func Nearest(unknown string, names []string) string {
	if len(unknown) > longestName {
		return ""
	}
	unknown = bare(unknown)
	best, least := "", max(1, len(unknown)/3)+1
	for _, name := range names {
		if d := distance(unknown, bare(name), least); d < least {
			best, least = name, d
		}
	}
	return best
}

// bare is a name without letter case and separators.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// distance is how many bytes to insert, remove, replace or swap with their
// neighbour make b from a; limit when there are so many or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(b) > longestName {
		return limit
	}
	// Three rows of the table: two back, one back, and this one.
	var rows [3][longestName + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}

// oneOf lists admitted values for a message.
func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}
