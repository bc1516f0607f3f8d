package text

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the parts in search form, one a line: without case but with
// accents, alike on every database (api-v1.md, GET /links, q).
func Fold(parts ...string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(strings.Join(parts, "\n"))))
}
