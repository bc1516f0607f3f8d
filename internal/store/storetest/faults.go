package storetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
)

var errFault = errors.New("the statement was made to fail")

// Faulty runs f again and again: with its first statement failing, then with the second
// one, and so on, until f runs to its end. Each statement that fails must end f with an
// error, and f must have one.
func Faulty(t testing.TB, f func(context.Context) error) {
	t.Helper()
	var mu sync.Mutex
	for nth := 1; ; nth++ {
		n, failed := 0, ""
		ctx := store.WithFaults(t.Context(), func(query string) error {
			mu.Lock()
			defer mu.Unlock()
			if n++; n != nth {
				return nil
			}
			failed = strings.Join(strings.Fields(query), " ")
			return errFault
		})
		err := f(ctx)
		switch {
		case failed == "":
			if err != nil {
				t.Errorf("without a statement that fails: %v", err)
			}
			if n == 0 {
				t.Error("there was no statement to fail")
			}
			return
		case err == nil:
			t.Errorf("nothing is said of the statement that failed: %s", failed)
		}
	}
}
