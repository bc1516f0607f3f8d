// Package names holds what the names that owners give to their things have in
// common.
package names

import (
	"strings"
	"unicode"

	"github.com/waymarkhq/waymark/internal/fault"
)

// visible are the characters that can be seen by themselves.
var visible = []*unicode.RangeTable{unicode.L, unicode.N, unicode.P, unicode.S}

// Clean trims a name, which was sent as the member at path, and refuses one
// without visible text.
func Clean(path, name string) (string, error) {
	name = strings.TrimSpace(name)
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsOneOf(visible, r) }) {
		return "", fault.Invalid(path, "required", "the name is empty")
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.Invalid(path, "invalid", "the name contains a control character")
	}
	return name, nil
}
