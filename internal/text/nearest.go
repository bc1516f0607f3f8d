package text

import "strings"

// longestName is how long a name may be to be compared: the work grows with
// its square, and clients choose the names.
const longestName = 40

// Nearest returns the name that a person most likely meant by an unknown one:
// the same but for letter case and separators, or the one that takes the fewest
// letters to change. It is "" if that were more than two, or a third of the name.
func Nearest(unknown string, names []string) string {
	if len(unknown) > longestName {
		return ""
	}
	unknown = bare(unknown)
	best, least := "", min(2, len(unknown)/3)+1
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
