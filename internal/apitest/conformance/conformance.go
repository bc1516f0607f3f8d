// Package conformance checks answers against an OpenAPI document by a validator that is not ours.
//
// No type of the validator leaves the package. Its types are generic, and the compiler makes code for them
// in each package that sees them: some 50 MiB in each test package.
package conformance

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/errors"
)

// validate returns what is wrong with an answer.
type validate func(*http.Request, *http.Response) (wrong []string)

// Contract validates answers. The validator compiles the schema of each header at each
// answer, which takes longer than all the rest of a call. So the values of headers are
// validated once for each look of an answer: one that looks like an earlier answer is
// validated by bodies, which leaves these values out.
type Contract struct {
	// mu is held while a validator works, which is not safe for concurrent use.
	mu              sync.Mutex
	answers, bodies validate
	seen            map[string]bool // looks of answers that are valid
}

// Validate returns what is wrong with an OpenAPI document.
func Validate(document []byte) (wrong []string, err error) {
	v, err := newValidator(document)
	if err != nil {
		return nil, err
	}
	_, found := v.ValidateDocument()
	return described(found), nil
}

func described(found []*errors.ValidationError) (wrong []string) {
	for _, e := range found {
		wrong = append(wrong, fmt.Sprintf("%s: %s %v", e.Message, e.Reason, e.SchemaValidationErrors))
	}
	return wrong
}

// New reads an OpenAPI document in the form that the operations make.
func New(document []byte) (*Contract, error) {
	answers, err := newValidate(document)
	if err != nil {
		return nil, err
	}
	// The validator looks at the values of required headers alone.
	before, headers, _ := bytes.Cut(document, []byte("\n  headers:\n"))
	headers = bytes.ReplaceAll(headers, []byte("required: true"), []byte("required: false"))
	bodies, err := newValidate(slices.Concat(before, []byte("\n  headers:\n"), headers))
	return &Contract{answers: answers, bodies: bodies, seen: map[string]bool{}}, err
}

func newValidator(text []byte, options ...config.Option) (validator.Validator, error) {
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(document, options...)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return v, nil
}

func newValidate(text []byte) (validate, error) {
	v, err := newValidator(text,
		// Members and headers that the contract does not describe are mistakes,
		// but for members of any name and headers that belong to HTTP itself.
		config.WithStrictMode(),
		config.WithStrictIgnorePaths("$.body.data**.parameters**", "$.body.data**.templateData**",
			"$.body.data**.input**", "$.body.data**.actionLabels**", "$.body.data.schema**"),
		config.WithStrictIgnoredHeaders("Content-Type", "Content-Length", "Vary", "Access-Control-Allow-Origin",
			"Access-Control-Expose-Headers"))
	if err != nil {
		return nil, err
	}
	return func(request *http.Request, answer *http.Response) (wrong []string) {
		_, found := v.ValidateHttpResponse(request, answer)
		return described(found)
	}, nil
}

// look is the same for values that differ in the digits of numbers, or of ids, alone. A whole
// number looks like no other value.
func look(value string) string {
	masked := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'a' <= r && r <= 'f' {
			return '0'
		}
		return r
	}, value)
	if _, err := strconv.Atoi(value); err == nil {
		return "number " + masked
	}
	return masked
}

// Check returns what is wrong with an answer, and nothing when it is as the document says.
func (c *Contract) Check(request *http.Request, answer *http.Response) (wrong []string) {
	if tag := answer.Header.Get("ETag"); tag != "" {
		answer.Header.Set("ETag", strconv.Quote(tag)) // the validator reads headers as JSON
	}
	looks := []string{request.Method, look(request.URL.Path), strconv.Itoa(answer.StatusCode)}
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		looks = append(looks, name)
		for _, value := range answer.Header[name] {
			looks = append(looks, look(value))
		}
	}
	form := strings.Join(looks, "\n")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[form] {
		return c.bodies(request, answer)
	}
	wrong = c.answers(request, answer)
	c.seen[form] = len(wrong) == 0
	return wrong
}
