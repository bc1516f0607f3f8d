package apitest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// An answer with a member that the contract does not declare fails a test,
// although clients have to accept it.
func TestUndeclaredMembersAreNoticed(t *testing.T) {
	v, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	i := New(t, "sqlite", Options{})
	owner := i.Prepared(t, "ann@example.com")
	link := owner.Link("a", M{"parameters": M{"anything": M{"goes": 1}}}).Want(201)
	request := httptest.NewRequest(http.MethodGet, "https://api.example/v1/links/"+Path(link.Text("data.id")), nil)
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
		answer := &http.Response{StatusCode: http.StatusOK, Header: link.Header.Clone(),
			Body: io.NopCloser(bytes.NewBufferString(body))}
		answer.Header.Set("ETag", strconv.Quote(answer.Header.Get("ETag"))) // the validator reads headers as JSON
		answer.Header.Del("Location")
		if valid, errs := v.ValidateHttpResponse(request, answer); valid != c.valid {
			t.Errorf("%s: valid is %v: %v\n%s", c.name, valid, errs, body)
		}
	}
}
