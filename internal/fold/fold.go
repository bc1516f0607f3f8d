// Package fold makes the search text that is stored beside what clients see:
// without case but with accents, alike on every database
// (api-v1.md, GET /links, q).
package fold

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Text returns the parts in search form, one a line.
func Text(parts ...string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(strings.Join(parts, "\n"))))
}
