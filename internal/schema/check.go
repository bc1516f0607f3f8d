package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/fault"
)

// Check returns what is wrong with a parsed JSON value (nil, bool, float64,
// string, []any, map[string]any), at most fifty problems, in the order of the
// schema. base is the JSON Pointer of the value. It takes time in proportion to
// the value up to the bounds of the schema: members of an array or object that
// is too long are not looked at.
func (s *Schema) Check(v any, base string) []fault.Detail {
	c := checker{path: append(make([]byte, 0, 64), base...)}
	c.check(s, v)
	return c.problems
}

type checker struct {
	path     []byte
	problems []fault.Detail
}

func (c *checker) full() bool { return len(c.problems) >= fault.MaxDetails }

func (c *checker) add(code fault.Reason, format string, args ...any) {
	if !c.full() {
		c.problems = append(c.problems, fault.Detail{Path: string(c.path), Code: code,
			Message: fmt.Sprintf(format, args...)})
	}
}

// enter makes a member or item the current place and returns the way back.
func (c *checker) enter(name string) (back int) {
	back = len(c.path)
	c.path = fault.AppendPointer(c.path, name)
	return back
}

func (c *checker) leave(back int) { c.path = c.path[:back] }

func (c *checker) check(s *Schema, v any) {
	if c.full() {
		return
	}
	nullable := s.Nullable
	for s.target != nil {
		s = s.target
		nullable = nullable || s.Nullable
	}
	if v == nil && (nullable || s.Type == "" && s.AnyOf == nil) {
		return
	}
	if s.AnyOf != nil {
		c.anyOf(s, v)
		return
	}
	if got := typeOf(v); s.Type != "" && got != s.Type && (got != Number || s.Type != Integer ||
		v != math.Trunc(v.(float64))) {
		c.wrongType(s, v, got)
		return
	}
	if s.Const != nil && v != s.Const { // v is a scalar of the same type
		c.add(fault.ReasonNotOneOf, "must be %v", s.Const)
		return
	}
	switch v := v.(type) {
	case string:
		c.text(s, v)
	case float64:
		c.number(s, v)
	case []any:
		c.array(s, v)
	case map[string]any:
		c.object(s, v)
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return Boolean
	case float64:
		return Number
	case string:
		return String
	case []any:
		return Array
	default:
		return Object
	}
}

var typeNames = map[string]string{
	String: "a string", Integer: "a whole number", Number: "a number", Boolean: "true or false", Array: "an array",
	Object: "an object",
}

func (c *checker) wrongType(s *Schema, v any, got string) {
	switch {
	case v == nil:
		c.add(fault.ReasonWrongType, "must be %s, not null", typeNames[s.Type])
	case got == Number && s.Type == Integer:
		c.add(fault.ReasonWrongType, "must be a whole number")
	case s.Nullable:
		c.add(fault.ReasonWrongType, "must be %s or null, not %s", typeNames[s.Type], typeNames[got])
	default:
		c.add(fault.ReasonWrongType, "must be %s, not %s", typeNames[s.Type], typeNames[got])
	}
}

// anyOf reports the problems of the first alternative that admits the type of
// v: the client most likely meant that one.
func (c *checker) anyOf(s *Schema, v any) {
	var meant []fault.Detail
	var types []string
	for _, alternative := range s.AnyOf {
		problems := alternative.Check(v, string(c.path))
		if len(problems) == 0 {
			return
		}
		alternative = alternative.Resolve()
		types = append(types, typeNames[alternative.Type])
		if meant == nil && alternative.Type == typeOf(v) {
			meant = problems
		}
	}
	if meant == nil {
		c.add(fault.ReasonWrongType, "must be %s", strings.Join(types, " or "))
		return
	}
	c.problems = append(c.problems, meant[:min(len(meant), fault.MaxDetails-len(c.problems))]...)
}

func (c *checker) text(s *Schema, v string) {
	if s.Enum != nil {
		if !slices.Contains(s.Enum, v) {
			c.add(fault.ReasonNotOneOf, "must be %s%s", oneOf(s.Enum), didYouMean(v, s.Enum))
		}
		return
	}
	v, err := s.text.clean(v)
	if err != nil {
		c.add(fault.ReasonInvalidText, "%s", err)
		return
	}
	if s.MinLength != nil && len(v) < *s.MinLength*utf8.UTFMax && utf8.RuneCountInString(v) < *s.MinLength {
		if v == "" {
			c.add(fault.ReasonTooShort, "must not be empty")
		} else {
			c.add(fault.ReasonTooShort, "must have at least %d characters", *s.MinLength)
		}
		return
	}
	if s.MaxLength != nil && len(v) > *s.MaxLength && utf8.RuneCountInString(v) > *s.MaxLength {
		c.add(fault.ReasonTooLong, "must have at most %d characters", *s.MaxLength)
		return
	}
	if s.pattern != nil && !s.pattern.MatchString(v) {
		c.add(fault.ReasonInvalidFormat, "must have the form %s", s.Pattern)
		return
	}
	if problem := checkFormat(s.Format, v); problem != "" {
		c.add(fault.ReasonInvalidFormat, "%s", problem)
	}
}

func (c *checker) number(s *Schema, v float64) {
	if s.Enum != nil {
		if !slices.Contains(s.Enum, plainNumber(v)) {
			c.add(fault.ReasonNotOneOf, "must be %s", oneOf(s.Enum))
		}
		return
	}
	low, high := s.Minimum, s.Maximum
	if (low == nil || v >= *low) && (high == nil || v <= *high) {
		return
	}
	switch {
	case high == nil || low != nil && *high == MaxWhole && v < *low:
		c.add(fault.ReasonOutOfRange, "must be at least %s", plainNumber(*low))
	case low == nil:
		c.add(fault.ReasonOutOfRange, "must be at most %s", plainNumber(*high))
	default:
		c.add(fault.ReasonOutOfRange, "must be from %s to %s", plainNumber(*low), plainNumber(*high))
	}
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (c *checker) array(s *Schema, v []any) {
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		c.add(fault.ReasonTooMany, "must have at most %d items, not %d", *s.MaxItems, len(v))
		return
	}
	if s.MinItems != nil && len(v) < *s.MinItems {
		if *s.MinItems == 1 {
			c.add(fault.ReasonTooFew, "must not be empty")
		} else {
			c.add(fault.ReasonTooFew, "must have at least %d items, not %d", *s.MinItems, len(v))
		}
	}
	for i, item := range v {
		if c.full() {
			return
		}
		if s.Items != nil {
			back := len(c.path)
			c.path = strconv.AppendInt(append(c.path, '/'), int64(i), 10)
			c.check(s.Items, item)
			c.leave(back)
		}
		if s.UniqueItems {
			if first := slices.IndexFunc(v[:i], func(other any) bool { return equal(item, other) }); first >= 0 {
				back := c.enter(strconv.Itoa(i))
				c.add(fault.ReasonDuplicate, "is the same as item %d", first)
				c.leave(back)
			}
		}
	}
}

// equal compares parsed JSON values; they need not be comparable in Go.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if other, ok := b[name]; !ok || !equal(v, other) {
				return false
			}
		}
		return true
	default:
		switch b.(type) {
		case []any, map[string]any:
			return false
		}
		return a == b
	}
}

func (c *checker) object(s *Schema, v map[string]any) {
	if s.MaxProperties != nil && len(v) > *s.MaxProperties {
		c.add(fault.ReasonTooMany, "must have at most %d members, not %d", *s.MaxProperties, len(v))
		return
	}
	known := 0
	for i := range s.Properties {
		p := &s.Properties[i]
		value, present := v[p.Name]
		if present {
			known++
		} else if !p.Required {
			continue
		}
		back := c.enter(p.Name)
		if present {
			c.check(p.Schema, value)
		} else {
			c.add(fault.ReasonRequired, "the field is required")
		}
		c.leave(back)
	}
	if known == len(v) || !s.Closed && s.Values == nil || c.full() {
		return
	}
	for _, name := range s.others(v) {
		back := c.enter(name)
		if s.Closed {
			c.add(fault.ReasonUnknownField, "the field is unknown%s", s.meant(name))
		} else {
			c.check(s.Values, v[name])
		}
		c.leave(back)
	}
}

// others returns the members that are no properties, in the order of their
// names; of a closed object, as many as can be reported.
func (s *Schema) others(v map[string]any) []string {
	var names []string
	for name := range v {
		if _, ok := s.index[name]; !ok {
			names = append(names, name)
		}
		if s.Closed && len(names) == 2*fault.MaxDetails { // a client may send thousands
			slices.Sort(names)
			names = names[:fault.MaxDetails]
		}
	}
	slices.Sort(names)
	return names
}
