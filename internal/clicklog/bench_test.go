package clicklog

import (
	"fmt"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	l := open(b, b.TempDir())
	e := sample()
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(l.Backlog())/float64(b.N), "bytes/event")
}

func BenchmarkAppendParallel(b *testing.B) {
	for _, perCPU := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", perCPU), func(b *testing.B) {
			l := open(b, b.TempDir())
			b.SetParallelism(perCPU)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				e := sample()
				for pb.Next() {
					if err := l.Append(e); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func BenchmarkNext(b *testing.B) {
	l := open(b, b.TempDir())
	e := sample()
	for range b.N {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for {
		batch, err := l.Next(4096)
		if err != nil || len(batch.Events) == 0 {
			return
		}
		if err := l.Done(batch); err != nil {
			b.Fatal(err)
		}
	}
}
