package imports

import (
	"maps"
	"slices"
	"unicode"
)

// quote shows a text that the client sent in one line, shortened.
func quote(text string) string {
	const most = 200
	shown := []rune(text)
	if len(shown) > most {
		shown = append(shown[:most], '…')
	}
	for i, r := range shown {
		if unicode.IsControl(r) {
			shown[i] = ' '
		}
	}
	return `"` + string(shown) + `"`
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
