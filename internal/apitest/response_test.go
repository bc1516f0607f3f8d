package apitest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer with a member or a header that the contract does not declare fails a test,
// although clients have to accept it, also after answers that look like it.
func TestUndeclaredIsNoticed(t *testing.T) {
	v, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	i := New(t, "sqlite", Options{})
	owner := i.Prepared(t, "ann@example.com")
	link := owner.Link("a", M{"parameters": M{"anything": M{"goes": 1}}}).Want(201)
	request := httptest.NewRequest(http.MethodGet, "https://api.example/v1/links/"+Path(link.Text("data.id")), nil)
	get := func(body string) *http.Response {
		answer := &http.Response{StatusCode: http.StatusOK, Header: link.Header.Clone(),
			Body: io.NopCloser(bytes.NewBufferString(body))}
		answer.Header.Del("Location")
		return answer
	}
	for _, c := range []struct {
		name, old, new string
		valid          bool
	}{
		{"as it is", "", "", true},
		{"in the envelope", `{"data":`, `{"extra":1,"data":`, false},
		{"in the data", `"slug":`, `"extra":1,"slug":`, false},
		{"in a part of the data", `"archived":`, `"extra":1,"archived":`, false},
		{"in a part that may be null", `"android":null`,
			`"android":{"mode":"official","templateId":null,"version":null,"extra":1}`, false},
		{"under a name that is free", `"goes":`, `"extra":1,"goes":`, true},
	} {
		body := strings.Replace(string(link.Body), c.old, c.new, 1)
		if errs := v.Check(request, get(body)); (len(errs) == 0) != c.valid {
			t.Errorf("%s: %v\n%s", c.name, errs, body)
		}
	}
	for name, change := range map[string]func(http.Header){
		"a header that is not declared": func(h http.Header) { h.Set("X-Extra", "1") },
		"a header that is missing":      func(h http.Header) { h.Del("X-Request-Id") },
		"a header of another form":      func(h http.Header) { h.Set("X-Request-Id", "req_123") },
		"letters in place of a number": func(h http.Header) {
			h.Set("X-RateLimit-Limit", strings.Repeat("a", len(h.Get("X-RateLimit-Limit"))))
		},
	} {
		for range 2 {
			answer := get(string(link.Body))
			change(answer.Header)
			if len(v.Check(request, answer)) == 0 {
				t.Error(name, "is not noticed")
			}
		}
	}
}
