package imagecheck

import (
	"bytes"
	"io"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
)

// bomb is a small file of a large image, with the code of its refusal.
type bomb struct {
	declared string
	content  []byte
	code     string
	// count is how many of a hundred are like it.
	count int
}

// bombs are those that take much to decode, also just as much as is decoded.
func bombs(t testing.TB) []bomb {
	plte := chunk("PLTE", make([]byte, 3))
	return []bomb{
		{"image/png", madePNG{width: MaxSide, height: MaxSide, depth: 16, color: trueColorAlpha}.bytes(t), "", 2},
		{"image/png", madePNG{width: MaxSide, height: MaxSide, depth: 8, color: trueColorAlpha,
			interlaced: true}.bytes(t), "", 2},
		{"image/png", madePNG{width: MaxSide, height: MaxSide, depth: 8, color: paletted, palette: plte}.bytes(t), "",
			10},
		{"image/png", madePNG{width: 1, height: 1, depth: 8, color: gray, extra: 8 << 20}.bytes(t), Undecodable, 10},
		{"image/png", madePNG{width: 1 << 30, height: 1, depth: 16, color: trueColorAlpha}.with(t, 1<<30), TooLarge,
			10},
		{"image/jpeg", madeJPEG{MaxSide, MaxSide, sof2, []byte{0x11, 0x11, 0x11}, -1, maxScans - 1}.bytes(), "", 29},
		{"image/jpeg", madeJPEG{MaxSide, MaxSide, sof0, []byte{0x11, 0x11, 0x11, 0x11}, 2, 0}.bytes(), "", 25},
		{"image/jpeg", madeJPEG{MaxSide, MaxSide, sof0, []byte{0x11}, -1, 0}.bytes(), "", 4},
		{"image/jpeg", madeJPEG{1024, 1024, sof2, []byte{0x11, 0x11, 0x11}, -1, 5}.bytes(), "", 4},
		{"image/jpeg", madeJPEG{1440, 1440, sof0, []byte{0x11, 0x11, 0x11, 0x11}, 2, 0}.bytes(), "", 4},
	}
}

// gauge measures the heap whenever a file is read.
type gauge struct{ peak atomic.Uint64 }

func (g *gauge) read() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (g *gauge) measure() {
	for now := g.read(); ; {
		if was := g.peak.Load(); now <= was || g.peak.CompareAndSwap(was, now) {
			return
		}
	}
}

type measured struct {
	io.ReaderAt
	*gauge
}

func (m measured) ReadAt(b []byte, offset int64) (int, error) {
	m.measure()
	return m.ReaderAt.ReadAt(b, offset)
}

// A hundred bombs at once take little memory, whatever they would decode to and
// however much else the process has in use.
func TestMemory(t *testing.T) {
	all, inUse := bombs(t), make([]byte, 128<<20)
	runtime.GC()
	g := &gauge{}
	before := g.read()
	var running sync.WaitGroup
	for kind, b := range all {
		for range b.count {
			running.Go(func() {
				_, err := Check(measured{bytes.NewReader(b.content), g}, int64(len(b.content)), b.declared)
				if got := code(t, err); got != b.code {
					t.Errorf("bomb %d: %v, want %q", kind, err, b.code)
				}
			})
		}
	}
	running.Wait()
	g.measure()
	runtime.KeepAlive(inUse)
	grown := int64(g.peak.Load()) - int64(before)
	t.Logf("the heap grew by %.1f MiB", float64(grown)/(1<<20))
	if grown >= 64<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

// BenchmarkCheck is the time of checking about the largest files.
func BenchmarkCheck(b *testing.B) {
	noise := picture(510, 510)
	for name, c := range map[string]bomb{
		"PNG of noise":         {"image/png", encodedPNG(b, noise), "", 1},
		"PNG bomb":             bombs(b)[0],
		"JPEG of noise":        {"image/jpeg", encodedJPEG(b, picture(1000, 1000), 85), "", 1},
		"JPEG bomb, decoded":   bombs(b)[7],
		"JPEG bomb, undecoded": bombs(b)[5],
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := check(c.content, c.declared); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(c.content)), "file-bytes")
		})
	}
}
