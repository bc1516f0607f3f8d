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

// BenchmarkCycle is a cycle of ten jobs with so many waiting, of so many apps.
func BenchmarkCycle(b *testing.B) {
	for _, engine := range storetest.Engines {
		for _, c := range []struct{ waiting, apps int }{{10, 1}, {1000, 1}, {20000, 1}, {10, 20}, {1000, 20},
			{20000, 20}} {
			waiting, apps := c.waiting, c.apps
			b.Run(fmt.Sprintf("%s/waiting=%d/apps=%d", engine, waiting, apps), func(b *testing.B) {
				db := storetest.Open(b, storetest.Address(b, engine), &clock.Clock{})
				e := New(Options{DB: db, Log: slog.New(slog.DiscardHandler), Kinds: []jobs.Kind{noteKind}})
				enqueue := func(n int) {
					for ; n > 0; n -= 1000 {
						if err := db.InTx(b.Context(), func(tx *store.Tx) error {
							for i := range min(n, 1000) {
								if err := jobs.Enqueue(b.Context(), tx, "note", "x", fmt.Sprint(i%apps),
									actor.Grant{}); err != nil {
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
