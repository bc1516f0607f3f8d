package clicklog_test

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
)

// What was appended is read again until Done says that it is stored elsewhere.
func ExampleLog() {
	dir, err := os.MkdirTemp("", "clicks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	l, err := clicklog.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	at := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	fmt.Println(l.Append(&clicklog.Event{At: at, Type: clicklog.Click, Link: clicklog.Link{Slug: "sale"}}))
	for range 2 { // the first is lost on its way, say
		b, err := l.Next(100)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(b.Events), b.Events[0].Link.Slug, b.Events[0].At)
	}
	b, err := l.Next(100)
	fmt.Println(err, l.Done(b), l.Backlog())
	// Output:
	// <nil>
	// 1 sale 2026-11-20T12:00:00.000Z
	// 1 sale 2026-11-20T12:00:00.000Z
	// <nil> <nil> 0
}
