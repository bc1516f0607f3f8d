package op

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
)

// MaxDepth is how deeply JSON in a request may nest.
const MaxDepth = 32

// parseJSON reads one JSON value strictly: no duplicate members, no invalid
// UTF-8 or lone surrogates, nothing after the value, bounded nesting. Numbers
// become float64, which is enough to validate them; handlers decode the text.
func parseJSON(body []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	v, err := parseValue(d)
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			return v, nil
		} else if err == nil {
			err = errors.New("there is more after the JSON value")
		}
	}
	if refusal, ok := fault.From(err); ok && jsontext.Value(body).IsValid() {
		return nil, refusal
	}
	// Half a character can stand in JSON as an escape: then only the text is wrong.
	if v := jsontext.Value(body); utf8.Valid(body) && !v.IsValid() && v.IsValid(jsontext.AllowInvalidUTF8(true)) {
		path := ""
		if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			path = string(syntactic.JSONPointer)
		}
		return nil, fault.Invalid(path, fault.ReasonInvalidText, "the text contains half of a surrogate pair")
	}
	if _, ok := fault.From(err); ok {
		err = errors.New("it is malformed")
	}
	return nil, fault.New(fault.InvalidRequest, "The body is not valid JSON: %s.", SyntaxMessage(err))
}

var errTooDeep = errors.New("it nests deeper than " + strconv.Itoa(MaxDepth) + " levels")

// DeeperThan reports whether JSON nests deeper than a limit; an object or array
// at its top is level 1.
func DeeperThan(text []byte, limit int) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return false
		} else if err != nil || d.StackDepth() > limit {
			return true
		}
	}
}

// SyntaxMessage describes an error of reading JSON without quoting the text.
func SyntaxMessage(err error) string {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return "it ends too early"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "an object has the same member twice"
	case errors.As(err, &syntactic):
		return "it is malformed at byte " + strconv.FormatInt(syntactic.ByteOffset, 10)
	default:
		return err.Error()
	}
}

func parseValue(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	if d.StackDepth() > MaxDepth {
		return nil, errTooDeep
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		s := token.String()
		if strings.ContainsRune(s, 0) {
			return nil, fault.Invalid(string(d.StackPointer()), fault.ReasonInvalidText,
				"the text contains the character NUL")
		}
		return s, nil
	case '0':
		// Out of range it is infinite, which no bound of a schema admits.
		f, _ := strconv.ParseFloat(token.String(), 64)
		return f, nil
	case '[':
		array := []any{}
		for d.PeekKind() != ']' {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			array = append(array, v)
		}
		_, err := d.ReadToken()
		return array, err
	default: // '{'
		object := map[string]any{}
		for d.PeekKind() != '}' {
			name, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			if object[name.(string)], err = parseValue(d); err != nil {
				return nil, err
			}
		}
		_, err := d.ReadToken()
		return object, err
	}
}

// canonical returns body in a form in which member order and white space do
// not matter, for fingerprints. Numbers keep their digits.
func canonical(body []byte) []byte {
	v := jsontext.Value(bytes.Clone(body))
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.Multiline(false)); err != nil {
		return body
	}
	return v
}

// wholeNumbers has integers read from every spelling of a whole number: 100.0
// and 1e2 as well as 100 (completions.md §11).
var wholeNumbers = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(wholeNumber[int]),
	json.UnmarshalFromFunc(wholeNumber[int64])))

func wholeNumber[T int | int64](d *jsontext.Decoder, v *T) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*v = T(n)
		return nil
	}
	f, _ := strconv.ParseFloat(string(text), 64) // of a number that is too large it is infinite
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return fmt.Errorf("%s is not a whole number", text)
	}
	*v = T(f)
	return nil
}
