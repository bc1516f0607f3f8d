package op

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A body may have as many bytes as are left, and not one more.
func TestBoundedBody(t *testing.T) {
	for body, want := range map[string]error{"": nil, "1234": nil, "12345": nil, "123456": io.ErrUnexpectedEOF, "12345678": io.ErrUnexpectedEOF} {
		b := &bounded{strings.NewReader(body), 5}
		read, err := io.ReadAll(b)
		if !errors.Is(err, want) || string(read) != body[:min(len(body), 5+1)] || b.left < 0 != (want != nil) {
			t.Errorf("%q: read %q, %v, %d left", body, read, err, b.left)
		}
	}
}
