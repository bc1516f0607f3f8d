package page

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/text"
)

// The types of variables.
const (
	textType    = "text"
	numberType  = "number"
	booleanType = "boolean"
)

// longestText is how many characters a text has at most whose variable names no
// bound.
const longestText = 4000

// CheckData returns what is wrong with the values that a link gives to the
// variables of a configuration: data is a JSON object in canonical form. Paths are
// relative to it. A required variable may be left out where it has a default value.
func CheckData(config Config, data jsontext.Value) []fault.Detail {
	var p fault.Problems
	if len(data) > MaxDataBytes {
		p.Add("", fault.ReasonTooLarge, "the object must have at most %d bytes, counted without white space; it has %d",
			MaxDataBytes, len(data))
		return found(&p)
	}
	var values map[string]jsontext.Value
	if err := json.Unmarshal(data, &values); err != nil {
		p.Add("", fault.ReasonWrongType, "must be an object of values by the keys of variables")
		return found(&p)
	}
	known := map[string]bool{}
	keys := make([]string, 0, len(config.Variables.Value))
	for _, v := range config.Variables.Value {
		known[v.Key], keys = true, append(keys, v.Key)
		path := fault.Pointer(v.Key)
		if value, given := values[v.Key]; given {
			checkValue(&p, path, v, value)
		} else if v.Required.Value && !v.DefaultValue.Set {
			p.Add(path, fault.ReasonRequired, "must be given: the template requires it")
		}
	}
	for _, key := range sorted(values) {
		if !known[key] {
			p.Add(fault.Pointer(key), fault.ReasonUnknownField, "the template has no such variable%s",
				schema.Hint(key, keys))
		}
	}
	return found(&p)
}

// checkValue adds what is wrong with a value of a variable.
func checkValue(p *fault.Problems, path string, v Variable, value jsontext.Value) {
	switch kind := value.Kind(); {
	case v.Type.Or(textType) == textType && kind == '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			p.Add(path, fault.ReasonInvalidText, "must be valid Unicode text")
			return
		}
		if _, err := text.CleanBlock(s); err != nil {
			p.Add(path, fault.ReasonInvalidText, "%s", err)
		} else if most := int(v.MaxLength.Or(longestText)); utf8.RuneCountInString(s) > most {
			p.Add(path, fault.ReasonTooLong, "must have at most %d characters", most)
		}
	case v.Type.Or(textType) == textType:
		p.Add(path, fault.ReasonWrongType, "must be a string, as the variable is a text")
	case v.Type.Value == numberType && kind != '0':
		p.Add(path, fault.ReasonWrongType, "must be a number, as the variable is one")
	case v.Type.Value == booleanType && kind != 't' && kind != 'f':
		p.Add(path, fault.ReasonWrongType, "must be true or false, as the variable is a boolean")
	}
}

// ParseData returns the members of a JSON object as texts, as Visit takes the values
// of variables: strings as they are, everything else as JSON. It is nil for an object
// without members.
func ParseData(object string) (map[string]string, error) {
	if object == "" || object == "{}" {
		return nil, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		return nil, err
	}
	data := make(map[string]string, len(members))
	for key, value := range members {
		data[key] = shown(value)
	}
	return data, nil
}

// shown returns the value of a variable as a text: a string as it is, anything else
// as JSON.
func shown(value jsontext.Value) string {
	s := string(value)
	if value.Kind() == '"' && json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
