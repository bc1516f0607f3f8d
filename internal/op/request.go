package op

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/schema"
)

// parse validates all that the client sent.
func (c *callContext) parse() error {
	if !c.parsePath() {
		return fault.Missing()
	}
	if err := c.parseHeaders(); err != nil {
		return err
	}
	if err := c.parseQuery(); err != nil {
		return err
	}
	return c.parseBody()
}

// parsePath validates path parameters; a malformed id is a resource that does
// not exist.
func (c *callContext) parsePath() bool {
	c.path = map[string]string{}
	for _, p := range c.row.input.parameters {
		if p.in != "path" {
			continue
		}
		value := c.r.PathValue(p.name)
		parsed, err := p.parse(value)
		if err != nil || len(value) > 500 || !utf8.ValidString(value) || len(p.schema.Check(parsed, "")) > 0 {
			return false
		}
		c.path[p.name] = value
	}
	return true
}

// parseQuery parses and validates the query: no unknown, repeated or malformed
// parameters. One that is absent counts as its default.
func (c *callContext) parseQuery() error {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return fault.New(fault.InvalidRequest, "The query is malformed: a percent sign must be followed by two "+
			"hexadecimal digits, and ; is not allowed.")
	}
	c.query, c.sent = map[string]any{}, map[string]bool{}
	var names []string
	for _, p := range c.row.input.parameters {
		if p.in != "query" {
			continue
		}
		names = append(names, p.name)
		given, ok := values[p.name]
		delete(values, p.name)
		switch {
		case !ok && p.required:
			return fault.InvalidQuery(p.name, fault.ReasonRequired, "the parameter is required")
		case !ok && p.schema.Default != nil:
			c.query[p.name] = p.schema.Default
			continue
		case !ok:
			continue
		case len(given) > 1:
			return fault.InvalidQuery(p.name, fault.ReasonRepeated, "the parameter is repeated")
		case !utf8.ValidString(given[0]) || strings.ContainsRune(given[0], 0):
			return fault.InvalidQuery(p.name, fault.ReasonInvalidText, "the value is not valid UTF-8 text")
		}
		v, err := p.parse(given[0])
		if err != nil {
			return fault.InvalidQuery(p.name, fault.ReasonWrongType, "%s", err)
		}
		if details := p.schema.Check(v, ""); len(details) > 0 {
			return fault.InvalidQuery(p.name, details[0].Code, "%s", details[0].Message)
		}
		c.query[p.name], c.sent[p.name] = v, true
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		return fault.InvalidQuery(strings.ToValidUTF8(name, "\uFFFD"), fault.ReasonUnknownField,
			"the parameter is unknown%s", schema.Hint(name, names))
	}
	return nil
}

var strongRevision = regexp.MustCompile(`^"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"$`)

func (c *callContext) parseHeaders() error {
	if !c.row.mutates {
		return nil
	}
	key, present, err := header(c.r, "Idempotency-Key")
	switch {
	case err != nil:
		return err
	case !present:
		return fault.InvalidHeader("Idempotency-Key", fault.ReasonRequired,
			"every call that is not a GET needs this header with a fresh UUID v4")
	case !ids.IsUUIDv4(key):
		return fault.InvalidHeader("Idempotency-Key", fault.ReasonInvalidFormat,
			"must be a UUID v4 such as 7d9f0a52-3c1e-4b8a-9f57-2e6c81d4a0b3")
	}
	c.Intent = strings.ToLower(key)
	match, present, err := header(c.r, "If-Match")
	if err != nil || !present {
		return err
	}
	revision := strongRevision.FindStringSubmatch(strings.ToLower(match))
	if revision == nil {
		return fault.InvalidHeader("If-Match", fault.ReasonInvalidFormat,
			"must be one strong revision in double quotes, as ETag has it; *, lists and weak revisions are not accepted")
	}
	if c.row.IfMatch != NoIfMatch {
		c.IfMatch = revision[1]
	}
	return nil
}

func (c *callContext) parseBody() error {
	if !c.row.mutates {
		return nil
	}
	if c.row.input.upload != nil {
		return c.parseUpload()
	}
	body, err := readBody(c.w, c.r)
	if err != nil {
		return err
	}
	rules := c.row.input.body
	if rules == nil {
		if len(body) > 0 {
			return fault.New(fault.InvalidRequest, "This operation takes no body.")
		}
		return nil
	}
	if len(body) == 0 && len(rules.Resolve().Properties) == 0 {
		body = []byte("{}") // an empty body stands for {} where no member is required
	} else if err := requireJSON(c.r); err != nil {
		return err
	}
	if len(body) == 0 {
		return errEmptyBody
	}
	parsed, err := parseJSON(body)
	if err != nil {
		return err
	}
	if details := c.pipeline.check(rules, parsed); len(details) > 0 {
		return fault.Of(fault.ValidationFailed, details...)
	}
	c.body = body
	if object, ok := parsed.(map[string]any); ok && c.row.App.body != "" {
		c.bodyApp, _ = object[c.row.App.body].(string)
	}
	return nil
}

// header returns a request header, which must not be repeated.
func header(r *http.Request, name string) (value string, present bool, err error) {
	values := r.Header.Values(name)
	if len(values) > 1 {
		return "", true, fault.InvalidHeader(name, fault.ReasonRepeated, "the header is repeated")
	}
	if len(values) == 0 {
		return "", false, nil
	}
	return values[0], true, nil
}
