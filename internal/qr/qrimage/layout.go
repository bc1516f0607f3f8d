package qrimage

import (
	"image"
	"image/color"

	"github.com/boombuler/barcode/qr"
)

var levels = map[Level]qr.ErrorCorrectionLevel{L: qr.L, M: qr.M, Q: qr.Q, H: qr.H}

// layout is a symbol and where its modules lie in the picture.
type layout struct {
	modules int // in a row
	dark    []bool
	step    step
	offset  int // of the symbol in pixels, from the left and from the top
	// logo is the rectangle of the logo in pixels, empty for none.
	logo image.Rectangle
}

// newLayout encodes text and finds the widest modules that fit.
func newLayout(text string, o Options) (*layout, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if text == "" {
		return nil, refuse("text", "There is nothing to encode.")
	}
	code, err := qr.Encode(text, levels[o.Level], qr.Auto)
	if err != nil { // it has no other reason
		return nil, refuse("text", "The link is too long for a QR code with error correction %s. Choose a lower one "+
			"or shorten the link.", o.Level)
	}
	n := code.Bounds().Dx()
	l := &layout{modules: n, dark: make([]bool, n*n)}
	for y := range n {
		for x := range n {
			l.dark[y*n+x] = code.At(x, y) == color.Black
		}
	}
	var need int
	if l.step, need = widest(n, o.Margin, o.Size); need > o.Size {
		return nil, refuse("size", "A code of %d by %d modules with a margin of %d needs %d pixels, not %d. "+
			"Choose a larger size, a smaller margin or a lower error correction, or shorten the link.", n, n, o.Margin,
			need, o.Size)
	}
	l.offset = (o.Size - l.step.edge(n)) / 2
	if o.Logo != nil {
		l.placeLogo(o.Logo.Bounds().Size())
	}
	return l, nil
}

// edge is the pixel at which module i begins.
func (l *layout) edge(i int) int { return l.offset + l.step.edge(i) }

// runs calls f for each run of dark modules in row y, from left to right.
func (l *layout) runs(y int, f func(x, n int)) {
	row := l.dark[y*l.modules:][:l.modules]
	for x := 0; x < len(row); x++ {
		from := x
		for x < len(row) && row[x] {
			x++
		}
		if x > from {
			f(from, x-from)
		}
	}
}

// step is the width of a module: num/den pixels. Phase says which modules of a
// fractional step are the narrow ones.
type step struct{ num, den, phase int }

// fractional steps are the only ones below 2 pixels that zbar read every time
// in texts of all lengths, only in these phases, and only with some quiet zone.
var fractional = []step{{7, 4, 2}, {5, 3, 2}}

func (s step) edge(i int) int { return (i*s.num + s.phase) / s.den }

// need is the size of a picture of n modules with a margin.
func (s step) need(n, margin int) int {
	quiet := (margin*s.num + s.den - 1) / s.den
	return s.edge(n) + 2*quiet
}

// widest returns the widest step that fits into size, or the narrowest, and
// the size that it needs.
func widest(n, margin, size int) (s step, need int) {
	if whole := size / (n + 2*margin); whole >= 2 {
		s = step{num: whole, den: 1}
		return s, s.need(n, margin)
	}
	for _, s = range fractional {
		if need = s.need(n, max(margin, 1)); need <= size {
			break
		}
	}
	return s, need
}
