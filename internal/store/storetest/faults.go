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
// one, and so on, until f runs to its end. Each statement that fails must end f with its
// error, and f must have one.
func Faulty(t testing.TB, f func(context.Context) error) {
	t.Helper()
	for nth := 1; ; nth++ {
		ctx, outcome := FailNth(t.Context(), nth)
		err := f(ctx)
		failed, n := outcome()
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
		case !strings.Contains(err.Error(), errFault.Error()): // which may stand in a log
			t.Errorf("something else is said of the statement that failed, %s: %v", failed, err)
		}
	}
}

// FailNth returns a context whose nth statement fails, and what tells which one that was, "" for
// none, and how many statements there were.
func FailNth(ctx context.Context, nth int) (context.Context, func() (failed string, n int)) {
	var mu sync.Mutex
	n, failed := 0, ""
	ctx = store.WithFaults(ctx, func(query string) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n != nth {
			return nil
		}
		failed = strings.Join(strings.Fields(query), " ")
		return errFault
	})
	return ctx, func() (string, int) {
		mu.Lock()
		defer mu.Unlock()
		return failed, n
	}
}
