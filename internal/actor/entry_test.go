package actor

import (
	"errors"
	"net/http"
	"testing"

	"golang.org/x/oauth2"

	"github.com/waymarkhq/waymark/internal/fault"
)

// An issuer that refuses a code is told from one that is out of order, which the caller tries again.
func TestRefusedCode(t *testing.T) {
	answered := func(status int) error {
		return &oauth2.RetrieveError{Response: &http.Response{StatusCode: status}, ErrorCode: "invalid_grant"}
	}
	for _, test := range []struct {
		err  error
		want fault.Code
	}{
		{answered(400), fault.Unauthenticated}, {answered(499), fault.Unauthenticated},
		{answered(500), fault.Unavailable}, {answered(503), fault.Unavailable},
		{&oauth2.RetrieveError{}, fault.Unauthenticated},
		{errors.New("oauth2: server response missing access_token"), fault.Unauthenticated},
		{errors.New("connection refused"), fault.Unavailable},
	} {
		if refusal, ok := fault.From(refusedCode(test.err)); !ok || refusal.Code != test.want {
			t.Errorf("%v: %v, want %s", test.err, refusal, test.want)
		}
	}
}
