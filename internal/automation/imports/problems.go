package imports

import (
	"fmt"
	"maps"
	"slices"
	"unicode"

	"github.com/waymarkhq/waymark/internal/fault"
)

// problems collects what is wrong, so that a client learns of all of it at
// once.
type problems []fault.Detail

func (p *problems) add(path string, code fault.Reason, format string, args ...any) {
	if len(*p) < fault.MaxDetails {
		*p = append(*p, fault.Detail{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
	}
}

func (p problems) refusal() error {
	if len(p) == 0 {
		return nil
	}
	return fault.Of(fault.ValidationFailed, p...)
}

// quote shows a text of the client's in one line, shortened.
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
