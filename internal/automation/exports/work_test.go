package exports

import (
	"errors"
	"strings"
	"testing"
)

// A file may have 1 MiB and not a byte more, in both formats.
func TestBytesOfAFile(t *testing.T) {
	type record struct {
		Title string `json:"title"`
	}
	for _, format := range []string{"csv", "json"} {
		of := func(n int) (string, error) {
			text, _, err := file(format, []record{{strings.Repeat("x", n)}})
			return text, err
		}
		short, err := of(1)
		if err != nil {
			t.Fatal(err)
		}
		fits := 1<<20 - len(short) + 1
		if text, err := of(fits); err != nil || len(text) != 1<<20 {
			t.Errorf("%s of 1 MiB: %d bytes, %v", format, len(text), err)
		}
		if text, err := of(fits + 1); !errors.Is(err, errTooLarge) || text != "" {
			t.Errorf("%s of a byte more: %d bytes, %v, want that it is too large", format, len(text), err)
		}
	}
}
