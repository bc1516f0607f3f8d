package clickcount

import (
	"fmt"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// BenchmarkCount counts full batches of limited clicks, of ten links.
func BenchmarkCount(b *testing.B) {
	const size = 4096
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			c := &clock.Clock{}
			c.Set(storetest.Start)
			db := storetest.Open(b, storetest.Address(b, engine), c)
			p := New(db, func() bool { return false }, nil)
			for at := int64(0); b.Loop(); at += size {
				batch := &clicklog.Batch{Runs: []clicklog.Run{{Log: "log"}}}
				for i := at + 1; i <= at+size; i++ {
					batch.Events = append(batch.Events, clicklog.Event{ID: i, At: storetest.Start, Limited: true,
						Link: clicklog.Link{ID: fmt.Sprint("link", i%10)}})
					batch.Runs[0].Ends = append(batch.Runs[0].Ends, i)
				}
				if err := p.Count(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/click")
		})
	}
}
