package qrimage

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// PNG renders text as a PNG of exactly o.Size by o.Size pixels. A refusal is
// an *Error.
func PNG(text string, o Options) ([]byte, error) {
	l, err := newLayout(text, o)
	if err != nil {
		return nil, err
	}
	code := l.paint(o)
	if o.Logo == nil {
		return encode(code)
	}
	return encode(l.paintLogo(code, o))
}

// paint returns the picture without the logo. Of its two colours the encoder
// makes one bit each.
func (l *layout) paint(o Options) *image.Paletted {
	p := image.NewPaletted(image.Rect(0, 0, o.Size, o.Size), color.Palette{o.Background, o.Foreground})
	for y := range l.modules {
		first := p.Pix[l.edge(y)*p.Stride:][:p.Stride]
		l.runs(y, func(x, n int) {
			for i := l.edge(x); i < l.edge(x+n); i++ {
				first[i] = 1
			}
		})
		for i := l.edge(y) + 1; i < l.edge(y+1); i++ {
			copy(p.Pix[i*p.Stride:], first)
		}
	}
	return p
}

func (l *layout) paintLogo(code *image.Paletted, o Options) image.Image {
	p := image.NewNRGBA(code.Rect)
	for i, index := range code.Pix {
		c := code.Palette[index].(color.NRGBA)
		copy(p.Pix[4*i:], []uint8{c.R, c.G, c.B, c.A})
	}
	logo := scale(o.Logo, l.logo.Size())
	for y := range l.logo.Dy() {
		for x := range l.logo.Dx() {
			p.SetNRGBA(l.logo.Min.X+x, l.logo.Min.Y+y, over(logo.NRGBAAt(x, y), o.Background))
		}
	}
	return p
}

// over lays c over a background. What stays transparent stays white below.
func over(c, background color.NRGBA) color.NRGBA {
	switch {
	case c.A == 0:
		return background
	case c.A == 0xff || background.A == 0:
		return c
	}
	mix := func(a, b uint8) uint8 {
		return uint8((int(a)*int(c.A) + int(b)*(0xff-int(c.A)) + 0x7f) / 0xff)
	}
	return color.NRGBA{R: mix(c.R, background.R), G: mix(c.G, background.G), B: mix(c.B, background.B), A: 0xff}
}

func encode(p image.Image) ([]byte, error) {
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, p)
	return out.Bytes(), err
}
