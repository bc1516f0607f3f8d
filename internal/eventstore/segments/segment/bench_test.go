package segment

import (
	"bytes"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
)

// BenchmarkWrite reports what writing costs per event, in batches of the loader and in
// files.
func BenchmarkWrite(b *testing.B) {
	for name, n := range map[string]int{"batch=2048": 2048, "file=400000": 400_000} {
		b.Run(name, func(b *testing.B) {
			list := events(rand.New(rand.NewPCG(1, 2)), n, 1, 1+n/20_000)
			w := NewWriter(io.Discard)
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				w.Reset(io.Discard)
				for i := range list {
					if err := w.Add(&list[i]); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N*n), "cpu-ns/event")
		})
	}
}

// cpu returns the processor time that the process has used, in nanoseconds.
func cpu(b *testing.B) int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}

// BenchmarkRead reports what opening costs, and reading each column, per event.
func BenchmarkRead(b *testing.B) {
	for name, n := range map[string]int{"batch=2048": 2048, "file=400000": 400_000} {
		data := written(b, events(rand.New(rand.NewPCG(1, 2)), n, 1, 1+n/20_000))
		b.Run(name+"/open", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(bytes.NewReader(data), int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
		for c := range columns {
			b.Run(name+"/"+c.String(), func(b *testing.B) {
				f := opened(b, data)
				var block Block
				b.ReportAllocs()
				before := cpu(b)
				for b.Loop() {
					for g := range f.Groups() {
						if err := f.Read(g, Of(c), &block); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(cpu(b)-before)/float64(b.N*n), "cpu-ns/event")
			})
		}
	}
}
