package apitest

import (
	"net/http"
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// EveryStatement makes a call until it succeeds, with one of its statements failing after the other: each time it is an
// internal error that leaves a state as it was. It returns the last answer.
func EveryStatement(t testing.TB, name string, call func(With) *Response, state func() string) *Response {
	t.Helper()
	for before, nth := state(), 1; ; nth++ {
		ctx, outcome := storetest.FailNth(t.Context(), nth)
		r := call(func(r *http.Request) { *r = *r.WithContext(ctx) })
		failed, _ := outcome()
		if failed == "" {
			return r
		}
		if after := state(); r.Status != http.StatusInternalServerError || after != before {
			t.Fatalf("%s answers %d after a failed %q, and of %s has become %s", name, r.Status, failed, before, after)
		}
	}
}
