package fault_test

import (
	"context"
	"errors"
	"testing"

	"github.com/waymarkhq/waymark/internal/fault"
)

// wrapped returns err as it leaves an operation on id.
func wrapped(id string, err error) (_ string, out error) {
	defer fault.Wrap(&out, "link.Delete(%s)", id)
	return id, err
}

// What is wrapped is still found: a refusal, the end of a context, a sentinel.
func TestWrap(t *testing.T) {
	sentinel := errors.New("not found")
	for _, cause := range []error{sentinel, context.Canceled, context.DeadlineExceeded, fault.Missing()} {
		_, err := wrapped("a", cause)
		if !errors.Is(err, cause) || err.Error() != "link.Delete(a): "+cause.Error() {
			t.Errorf("%v of %v", err, cause)
		}
		if _, refused := fault.From(cause); refused != fault.Is(err, fault.NotFound) {
			t.Errorf("%v is a refusal: %v", err, !refused)
		}
	}
	if _, err := wrapped("a", nil); err != nil {
		t.Errorf("%v of no error", err)
	}
}

func BenchmarkWrapWithoutError(b *testing.B) {
	b.ReportAllocs()
	id := string(make([]byte, b.N%2+36))
	for b.Loop() {
		_, _ = wrapped(id, nil)
	}
}
