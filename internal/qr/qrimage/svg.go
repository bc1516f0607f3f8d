package qrimage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
)

// embedded is the length of an embedded logo's longer side in pixels: an SVG
// may be shown or printed larger than its size says.
const embedded = 256

// SVG renders text as an SVG of o.Size by o.Size pixels, which shown at that
// size is the same picture as the PNG. Nothing in it is text. A refusal is an
// *Error.
func SVG(text string, o Options) ([]byte, error) {
	l, err := newLayout(text, o)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%[1]d" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges">`, o.Size)
	if o.Background != Transparent {
		fmt.Fprintf(&out, `<path fill="%s" d="M0 0h%dv%[2]dH0z"/>`, hexColor(o.Background), o.Size)
	}
	// A pixel belongs to the module that its centre lies in; with this corner
	// those are the pixels between the step's edges.
	corner := float64(l.offset) + (float64(l.step.phase)+0.5)/float64(l.step.den) - 0.5
	width := float64(l.step.num) / float64(l.step.den)
	fmt.Fprintf(&out, `<path fill="%s" transform="translate(%.6g %[2]g) scale(%.8[3]g)" d="`, hexColor(o.Foreground),
		corner, width)
	for y := range l.modules {
		l.runs(y, func(x, n int) { fmt.Fprintf(&out, "M%d %dh%dv1h-%[3]dz", x, y, n) })
	}
	out.WriteString(`"/>`)
	if o.Logo != nil {
		if err := l.embedLogo(&out, o); err != nil {
			return nil, err
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

func (l *layout) embedLogo(out *bytes.Buffer, o Options) error {
	size := o.Logo.Bounds().Size()
	if side := max(embedded, l.logo.Dx(), l.logo.Dy()); max(size.X, size.Y) > side {
		size = within(size, image.Pt(side, side))
	}
	logo, err := encode(scale(o.Logo, size))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `<image x="%d" y="%d" width="%d" height="%d" href="data:image/png;base64,%s"/>`,
		l.logo.Min.X, l.logo.Min.Y, l.logo.Dx(), l.logo.Dy(), base64.StdEncoding.EncodeToString(logo))
	return nil
}
