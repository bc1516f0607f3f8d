package apitest

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/apitest/conformance"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
)

// Response is an answer of the API.
type Response struct {
	t      testing.TB
	call   string
	Status int
	Header http.Header
	Body   []byte
}

var requestID = regexp.MustCompile(`^req_[0-9a-f]{32}$`)

// check holds for every answer: its request id, its caching, and its shape by
// the contract.
func (r *Response) check(request *http.Request, recorder *httptest.ResponseRecorder) {
	r.t.Helper()
	if !requestID.MatchString(r.Header.Get("X-Request-Id")) {
		r.t.Errorf("%s: X-Request-Id is %q", r.call, r.Header.Get("X-Request-Id"))
	}
	if strings.HasPrefix(request.URL.Path, op.BasePath) && r.Header.Get("Cache-Control") != "no-store, no-transform" {
		r.t.Errorf("%s: Cache-Control is %q", r.call, r.Header.Get("Cache-Control"))
	}
	if request.Method == http.MethodHead || !strings.HasPrefix(request.URL.Path, op.BasePath+"/") {
		return
	}
	if file := r.Header.Get("Content-Disposition") != ""; !file && strings.HasPrefix(r.Header.Get("Content-Type"),
		"application/json") {
		path := "meta.requestId"
		if r.Status >= 400 {
			path = "error.requestId"
		}
		if got := r.Text(path); got != r.Header.Get("X-Request-Id") {
			r.t.Errorf("%s: %s is %q, the header says %q", r.call, path, got, r.Header.Get("X-Request-Id"))
		}
	}
	noRoute := r.Status == http.StatusNotFound && strings.HasPrefix(r.Text("error.message"), "There is no such route.")
	if noRoute || r.Status == http.StatusMethodNotAllowed || request.Method == http.MethodOptions ||
		r.Status == http.StatusTooManyRequests && strings.Contains(r.Header.Get("X-RateLimit-Policy"), `by="address"`) {
		return // no operation, so nothing that the contract describes
	}
	c, err := theContract()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, wrong := range c.Check(request, recorder.Result()) {
		r.t.Errorf("%s answers %d against the contract: %s\n%s", r.call, r.Status, wrong, r.Body)
	}
}

// theContract is built once for all tests of a package.
var theContract = sync.OnceValues(func() (*conformance.Contract, error) {
	s := op.New(op.Options{Log: slog.New(slog.DiscardHandler)})
	assembly.Declare(s, assembly.Options{})
	document, err := s.OpenAPI()
	if err != nil {
		return nil, err
	}
	return conformance.New(document)
})

// Want fails the test unless the status is the expected one.
func (r *Response) Want(status int) *Response {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("%s: status %d, want %d: %s", r.call, r.Status, status, r.Body)
	}
	return r
}

// Refused fails the test unless the answer is the refusal with the code and a
// detail at each of the paths.
func (r *Response) Refused(code fault.Code, paths ...string) *Response {
	r.t.Helper()
	if r.Status != code.Status() || r.Text("error.code") != string(code) {
		r.t.Errorf("%s: %d %s, want %s", r.call, r.Status, r.Body, code)
		return r
	}
	var envelope op.ErrorEnvelope
	if err := json.Unmarshal(r.Body, &envelope); err != nil {
		r.t.Fatal(err)
	}
	for _, path := range paths {
		if !slices.ContainsFunc(envelope.Error.Details, func(d fault.Detail) bool { return d.Path == path }) {
			r.t.Errorf("%s: no detail at %s: %s", r.call, path, r.Body)
		}
	}
	return r
}

// Value returns the JSON text at a dotted path such as data.items.0.id; ""
// when there is none.
func (r *Response) Value(path string) string {
	v := jsontext.Value(r.Body)
	for _, name := range strings.Split(path, ".") {
		if index, err := strconv.Atoi(name); err == nil {
			var array []jsontext.Value
			if json.Unmarshal(v, &array) != nil || index >= len(array) {
				return ""
			}
			v = array[index]
			continue
		}
		var object map[string]jsontext.Value
		if json.Unmarshal(v, &object) != nil {
			return ""
		}
		v = object[name]
	}
	return string(v)
}

// Text returns the string at a path.
func (r *Response) Text(path string) string {
	var s string
	if json.Unmarshal([]byte(r.Value(path)), &s) != nil {
		return ""
	}
	return s
}

// Len returns the length of the array at a path.
func (r *Response) Len(path string) int {
	var array []jsontext.Value
	if json.Unmarshal([]byte(r.Value(path)), &array) != nil {
		return -1
	}
	return len(array)
}

// Has fails the test unless the JSON text at a path is the expected one.
func (r *Response) Has(path, want string) *Response {
	r.t.Helper()
	if got := r.Value(path); got != want {
		r.t.Errorf("%s: %s is %s, want %s", r.call, path, got, want)
	}
	return r
}

// Revision returns the revision in the ETag and checks that the body has the
// same.
func (r *Response) Revision() string {
	r.t.Helper()
	tag := strings.Trim(r.Header.Get("ETag"), `"`)
	if body := r.Text("data.revision"); body != "" && body != tag {
		r.t.Errorf("%s: ETag %q, revision %q", r.call, tag, body)
	}
	return tag
}
