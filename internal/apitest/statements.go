package apitest

import (
	"net/http"
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// EveryStatement makes a call again and again. Its first statement fails, the next time its second, and so on: each of
// these calls must be an internal error, and leave the state as it was. Then no statement is left to fail, and it returns
// the answer of that call.
func EveryStatement(t testing.TB, name string, call func(With) *Response, state func() string) *Response {
	t.Helper()
	for before, nth := state(), 1; ; nth++ {
		ctx, outcome := storetest.FailNth(t.Context(), nth)
		r := call(func(r *http.Request) { *r = *r.WithContext(ctx) })
		failed, n := outcome()
		if n == 0 {
			t.Fatalf("%s sent no statement that could fail", name)
		}
		if failed == "" {
			return r
		}
		if after := state(); r.Status != http.StatusInternalServerError || after != before {
			t.Fatalf("%s answers %d after a failed %q; the state was %s and is %s", name, r.Status, failed, before, after)
		}
	}
}
