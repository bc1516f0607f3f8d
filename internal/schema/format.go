package schema

import (
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/text"
)

// formatLength is how long a text of a format can be.
var formatLength = map[string]int{"uuid": 36, "date-time": 40, "uri": 8192}

// checkFormat returns what is wrong with a string of a format, or "". Other
// formats than these describe and are not checked.
func checkFormat(format, s string) string {
	switch format {
	case "uuid":
		if !ids.IsUUID(strings.ToLower(s)) {
			return "must be a UUID such as 0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"
		}
	case "date-time":
		if _, err := clock.Parse(s); err != nil {
			return "must be " + clock.Form
		}
	}
	return ""
}

// textRule is a rule for the characters of a string.
type textRule int

const (
	plain textRule = iota // no control characters, no bidirectional overrides
	line                  // text.Line
	block                 // text.Block
	free                  // any characters
)

// clean returns s in the form in which it is measured and stored.
func (r textRule) clean(s string) (string, error) {
	switch r {
	case line:
		return text.CleanLine(s)
	case block:
		return text.CleanBlock(s)
	case free:
		return s, nil
	default:
		return s, text.Check(s)
	}
}
