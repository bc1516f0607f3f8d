package qrimage

import "testing"

// A code of ordinary size and length must take no more than 5 ms.
func Benchmark(b *testing.B) {
	plain := options(512, 4, M)
	logo := options(512, 4, Q)
	logo.Logo = square
	for _, c := range []struct {
		name   string
		render func(string, Options) ([]byte, error)
		o      Options
	}{
		{"PNG", PNG, plain}, {"PNG/logo", PNG, logo},
		{"SVG", SVG, plain}, {"SVG/logo", SVG, logo},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := c.render(ordinary, c.o)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(out)), "bytes")
			}
		})
	}
}
