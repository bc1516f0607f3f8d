// Package wcag computes how well colours can be told apart, as the Web Content
// Accessibility Guidelines 2 define it.
package wcag

import (
	"encoding/hex"
	"image/color"
	"math"
)

// The least contrast ratios of level AA: of text with what lies behind it, and of
// a control or a graphic with what lies beside it.
const (
	ForText    = 4.5
	ForControl = 3.0
)

// ParseHex reads "#RRGGBB".
func ParseHex(s string) (c color.NRGBA, ok bool) {
	if len(s) != 7 || s[0] != '#' {
		return c, false
	}
	rgb, err := hex.DecodeString(s[1:])
	if err != nil {
		return c, false
	}
	return color.NRGBA{R: rgb[0], G: rgb[1], B: rgb[2], A: 0xff}, true
}

// Contrast is the contrast ratio of two opaque colours, from 1 to 21.
func Contrast(a, b color.NRGBA) float64 {
	x, y := Luminance(a), Luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Luminance is the relative luminance of a colour, from 0 for black to 1 for white.
func Luminance(c color.NRGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 0xff
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
