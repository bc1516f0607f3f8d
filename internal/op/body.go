package op

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// MaxBody is the largest JSON body in bytes, also when chunked.
	MaxBody = 32 << 10
	// maxDepth is how deeply a body may nest.
	maxDepth = 32
)

// readBody returns the bytes of a JSON body of at most MaxBody bytes.
func readBody(r *http.Request) ([]byte, error) {
	tooLarge := fault.New(fault.PayloadTooLarge, "The body exceeds %d bytes.", MaxBody)
	if r.ContentLength > MaxBody {
		return nil, tooLarge
	}
	if err := refuseEncoded(r); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "The body could not be read.")
	}
	if len(body) > MaxBody {
		return nil, tooLarge
	}
	return body, nil
}

// requireJSON refuses a body that is not declared as JSON in UTF-8.
func requireJSON(r *http.Request) error {
	kind, parameters, err := mediaType(r)
	if err != nil {
		return err
	}
	if kind != "application/json" {
		return fault.New(fault.UnsupportedMediaType, "The body must be sent with Content-Type: application/json.")
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.UnsupportedMediaType, "The body must be encoded as UTF-8.")
	}
	return nil
}

// mediaType returns the declared type of a body, "" when it is none.
func mediaType(r *http.Request) (kind string, parameters map[string]string, err error) {
	declared, _, err := header(r, "Content-Type")
	if err != nil {
		return "", nil, err
	}
	if kind, parameters, err = mime.ParseMediaType(declared); err != nil {
		return "", nil, nil
	}
	return kind, parameters, nil
}

// parseJSON reads one JSON value strictly: no duplicate members, no invalid
// UTF-8 or lone surrogates, nothing after the value, bounded nesting. Numbers
// become float64, which is enough to validate them; handlers decode the text.
func parseJSON(body []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	v, err := parseValue(d)
	if err == nil {
		if _, err = d.ReadToken(); err == io.EOF {
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
	return nil, fault.New(fault.InvalidRequest, "The body is not valid JSON: %s.", syntaxMessage(err))
}

var errTooDeep = errors.New("it nests deeper than " + strconv.Itoa(maxDepth) + " levels")

// syntaxMessage describes a syntax error without quoting the body.
func syntaxMessage(err error) string {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return "it ends too early"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "an object has the same member twice"
	case errors.As(err, &syntactic):
		return "at byte " + strconv.FormatInt(syntactic.ByteOffset, 10)
	default:
		return err.Error()
	}
}

func parseValue(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	if d.StackDepth() > maxDepth {
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
			return nil, fault.Invalid(string(d.StackPointer()), fault.ReasonInvalidText, "the text contains the character NUL")
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
