package cursor_test

import (
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
)

// A cursor says where a list goes on. It is good for this list alone, and not for
// long.
func ExampleSigner() {
	s := cursor.NewSigner([]byte("a key that all processes share"))
	now := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	text := s.Sign(cursor.Position{At: now, ID: "last"}, "listTags of app 1", now)
	p, err := s.Open(text, "listTags of app 1", now)
	fmt.Println(p.At, p.ID, err)
	_, err = s.Open(text, "listTags of app 2", now)
	fmt.Println(err)
	_, err = s.Open(text, "listTags of app 1", now.Add(cursor.Lifetime+time.Second))
	fmt.Println(err)
	// Output:
	// 2026-11-20T12:00:00.000Z last <nil>
	// the cursor is invalid, expired or belongs to another list
	// the cursor is invalid, expired or belongs to another list
}
