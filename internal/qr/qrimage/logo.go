package qrimage

import (
	"image"

	"golang.org/x/image/draw"
)

// placeLogo clears the modules in the middle for a logo of the given size and
// its border.
//
// The longer side takes a fifth of the symbol's width less one module, always
// an odd number so that it is centred on whole modules. That damages at most
// half of the codewords that levels Q and H can restore, slightly more in
// codes of 25 by 25 modules; the rest is left to dirt and bad light. Only
// codes of 21 by 21 modules, too small for a link, come closer to the limit.
//
// Codes of 45 to 69 modules have an alignment pattern in the middle. Readers
// that search for it, like zbar, may take a part of a large logo for it and
// read a quarter of the code askew. There the logo is 3 modules wide in a clear
// square of 9, the area searched: no part of that looks like the pattern.
func (l *layout) placeLogo(logo image.Point) {
	long, border := oddDown(l.modules/5-1), 1
	if l.modules >= 45 && l.modules <= 69 {
		long, border = 3, 3
	}
	w, h := long, long
	if logo.X > logo.Y {
		h = oddUp(long, logo.Y, logo.X)
	} else {
		w = oddUp(long, logo.X, logo.Y)
	}
	left, top := (l.modules-w)/2, (l.modules-h)/2
	for y := top - border; y < top+h+border; y++ {
		clear(l.dark[y*l.modules+left-border:][:w+2*border])
	}
	box := image.Rect(l.edge(left), l.edge(top), l.edge(left+w), l.edge(top+h))
	size := within(logo, box.Size())
	corner := box.Min.Add(box.Size().Sub(size).Div(2))
	l.logo = image.Rectangle{Min: corner, Max: corner.Add(size)}
}

// oddDown is the largest odd number up to n.
func oddDown(n int) int { return n - 1 + n%2 }

// oddUp is the smallest odd number from n·a/b on.
func oddUp(n, a, b int) int { return (n*a+b-1)/b | 1 }

// within is the largest size of a picture's shape inside box, at least one
// pixel each way.
func within(picture, box image.Point) image.Point {
	if picture.X*box.Y > picture.Y*box.X {
		return image.Pt(box.X, max(1, (picture.Y*box.X+picture.X/2)/picture.X))
	}
	return image.Pt(max(1, (picture.X*box.Y+picture.Y/2)/picture.Y), box.Y)
}

func scale(logo image.Image, size image.Point) *image.NRGBA {
	out := image.NewNRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(out, out.Bounds(), logo, logo.Bounds(), draw.Src, nil)
	return out
}
