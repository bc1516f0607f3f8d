package page

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
)

// CheckData returns what is wrong with the values that a link gives to the
// variables of a configuration: data is a JSON object in canonical form. Paths are
// relative to it.
func CheckData(config Config, data jsontext.Value) []fault.Detail { return nil }

// ParseData returns the values of variables by key, as Visit takes them, of a JSON
// object that CheckData found to be right; nil for an object without members.
func ParseData(object string) (map[string]string, error) { return nil, nil }
