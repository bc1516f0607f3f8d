package op

import (
	"net/http"
	"reflect"

	"github.com/waymarkhq/waymark/internal/schema"
)

// headerText describes a header of answers in the contract.
type headerText struct {
	name, doc string
	schema    *schema.Schema
}

// replayed is the one header that is optional in every kind of answer.
const replayed = "Idempotency-Replayed"

func text(pattern string, longest int, example string) *schema.Schema {
	return &schema.Schema{Type: schema.String, Pattern: pattern, MaxLength: &longest, Example: example}
}

func whole(low float64) *schema.Schema {
	return &schema.Schema{Type: schema.Integer, Minimum: &low, Maximum: schema.Of(float64(schema.MaxWhole))}
}

func always(value string) *schema.Schema {
	return &schema.Schema{Type: schema.String, Const: value}
}

// headers are the headers of answers that the contract describes.
var headers = []headerText{
	{"X-Request-Id", "The id of this request, as in the body.",
		text("^req_[0-9a-f]{32}$", 36, "req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57")},
	{"Cache-Control", "Nothing may keep or change an answer.", always("no-store, no-transform")},
	{"X-Content-Type-Options", "The declared type is the type.", always("nosniff")},
	{"X-RateLimit-Limit", "The limit, in calls, of the window that is closest to exhaustion.", whole(1)},
	{"X-RateLimit-Remaining", "How many calls that window still admits.", whole(0)},
	{"X-RateLimit-Reset", "When that window starts anew, in Unix seconds.", whole(0)},
	{"X-RateLimit-Policy", "That window: its limit, its length in seconds, its name and what it counts by.",
		text(`^[0-9]+;w=[0-9]+;name="[a-z-]+";by="(credential|account|app|address)"$`, 100,
			`600;w=60;name="read";by="credential"`)},
	{"ETag", "The strong revision in double quotes. The ETag of a file is made from its bytes.",
		text(revisionPattern, 38, `"f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"`)},
	{"Location", "The path of what was created or is to be followed.",
		text("^/v1/", 1024, "/v1/operations/0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d")},
	{"Retry-After", "Seconds to wait before the next call.", whole(1)},
	{replayed, "Sent when the answer comes from the receipt of an earlier call.", always("true")},
	{"Content-Disposition", "inline or attachment, with a file name.",
		text("^(inline|attachment)", 300, "attachment; filename=links.csv")},
	{"Content-Security-Policy", "Nothing in the file may run.",
		text("^default-src 'none'", 200, "default-src 'none'; img-src data:; sandbox")},
	{"WWW-Authenticate", "How to authenticate.", always("Bearer")},
}

// describe returns the header as the contract has it.
func (h headerText) describe(required bool) members {
	return members{{"description", h.doc}, {"required", required}, {"schema", h.schema}}
}

// headerSet collects the headers of one answer.
type headerSet members

// add adds headers that the answer always has.
func (s *headerSet) add(names ...string) {
	for _, name := range names {
		*s = append(*s, member{name, refTo("headers", name)})
	}
}

// maybe adds headers that the answer may lack.
func (s *headerSet) maybe(names ...string) {
	for _, h := range headers {
		for _, name := range names {
			if h.name == name {
				*s = append(*s, member{name, h.describe(false)})
			}
		}
	}
}

var rateHeaders = []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Policy"}

// successHeaders are the headers of an operation's success.
func (r *row) successHeaders() members {
	var s headerSet
	s.add("X-Request-Id", "Cache-Control")
	s.add(rateHeaders...)
	if r.Status != http.StatusNoContent {
		s.add("X-Content-Type-Options")
	}
	switch {
	case r.tagged:
		s.add("ETag")
	case r.types != nil && r.data == nil:
		s.add("ETag", "Content-Disposition", "Content-Security-Policy")
	case r.types != nil: // a list that can be had as a file
		s.maybe("ETag", "Content-Disposition", "Content-Security-Policy")
	}
	if r.Status == http.StatusCreated || r.Status == http.StatusAccepted {
		s.add("Location")
	}
	if r.Status == http.StatusAccepted {
		s.add("Retry-After")
	}
	if r.mutates {
		s.add(replayed)
	}
	return members(s)
}

// hasRevision reports whether data of a type has a member revision at its top.
// That revision is the answer's ETag.
func hasRevision(data reflect.Type) bool {
	for _, f := range reflect.VisibleFields(data) {
		if f.Tag.Get("json") == "revision" {
			return true
		}
	}
	return false
}

// refusalHeaders are the headers of the refusals with a status.
func refusalHeaders(status int) members {
	var s headerSet
	s.add("X-Request-Id", "Cache-Control", "X-Content-Type-Options")
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable:
		s.maybe(rateHeaders...) // a business limit has no window, a failure may come before any is known
	default:
		s.add(rateHeaders...)
	}
	switch status {
	case http.StatusUnauthorized:
		s.add("WWW-Authenticate")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		s.add("Retry-After")
	case http.StatusConflict:
		s.maybe("Retry-After", "Location")
	}
	return members(s)
}
