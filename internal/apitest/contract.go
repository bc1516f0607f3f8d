package apitest

import (
	"bytes"
	"log/slog"
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

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/op"
)

// contract validates answers. The validator compiles the schema of each header at each
// answer, which takes longer than all the rest of a call. So the values of headers are
// validated once for each look of an answer: one that looks like an earlier answer is
// validated by bodies, which leaves these values out.
type contract struct {
	// mu is held while a validator works, which is not safe for concurrent use.
	mu              sync.Mutex
	answers, bodies validator.Validator
	seen            map[string]bool // looks of answers that are valid
}

// theContract is built once for all tests of a package.
var theContract = sync.OnceValues(func() (*contract, error) {
	s := op.New(op.Options{Log: slog.New(slog.DiscardHandler)})
	assembly.Declare(s, assembly.Options{})
	text, err := s.OpenAPI()
	if err != nil {
		return nil, err
	}
	c := &contract{seen: map[string]bool{}}
	if c.answers, err = newValidator(text); err != nil {
		return nil, err
	}
	// The validator looks at the values of required headers alone.
	before, headers, _ := bytes.Cut(text, []byte("\n  headers:\n"))
	headers = bytes.ReplaceAll(headers, []byte("required: true"), []byte("required: false"))
	c.bodies, err = newValidator(slices.Concat(before, []byte("\n  headers:\n"), headers))
	return c, err
})

func newValidator(text []byte) (validator.Validator, error) {
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(document,
		// Members and headers that the contract does not describe are mistakes,
		// but for members of any name and headers that belong to HTTP itself.
		config.WithStrictMode(),
		config.WithStrictIgnorePaths("$.body.data**.parameters**", "$.body.data**.templateData**",
			"$.body.data**.input**", "$.body.data**.actionLabels**", "$.body.data.schema**"),
		config.WithStrictIgnoredHeaders("Content-Type", "Content-Length", "Vary", "Access-Control-Allow-Origin",
			"Access-Control-Expose-Headers"))
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return v, nil
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

// check returns what is wrong with an answer.
func (c *contract) check(request *http.Request, answer *http.Response) []*errors.ValidationError {
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
	v := c.answers
	if c.seen[form] {
		v = c.bodies
	}
	ok, errs := v.ValidateHttpResponse(request, answer)
	if ok {
		c.seen[form] = true
	}
	return errs
}
