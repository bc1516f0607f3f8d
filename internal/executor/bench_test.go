package executor

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// BenchmarkCycle is a cycle of ten jobs with so many waiting.
func BenchmarkCycle(b *testing.B) {
	for _, engine := range storetest.Engines {
		for _, waiting := range []int{10, 1000, 20000} {
			b.Run(fmt.Sprintf("%s/%d", engine, waiting), func(b *testing.B) {
				db := storetest.Open(b, storetest.Address(b, engine), &clock.Clock{})
				e := New(Options{DB: db, Log: slog.New(slog.DiscardHandler), Kinds: []jobs.Kind{noteKind}})
				enqueue := func(n int) {
					for ; n > 0; n -= 1000 {
						if err := db.InTx(b.Context(), func(tx *store.Tx) error {
							for i := range min(n, 1000) {
								if err := jobs.Enqueue(b.Context(), tx, "note", "x", fmt.Sprint(i%20), actor.Grant{}); err != nil {
									return err
								}
							}
							return nil
						}); err != nil {
							b.Fatal(err)
						}
					}
				}
				enqueue(waiting - 10)
				for b.Loop() {
					b.StopTimer()
					enqueue(10)
					b.StartTimer()
					if n, err := e.Cycle(b.Context()); err != nil || n != 10 {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
