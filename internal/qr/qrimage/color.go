package qrimage

import (
	"encoding/hex"
	"image/color"
	"math"
)

// Transparent is the background that shows what lies behind the code. It is
// white to readers that ignore transparency.
var Transparent = color.NRGBA{R: 0xff, G: 0xff, B: 0xff}

// ParseColor reads "#RRGGBB" or "transparent".
func ParseColor(s string) (c color.NRGBA, ok bool) {
	if s == "transparent" {
		return Transparent, true
	}
	if len(s) != 7 || s[0] != '#' {
		return c, false
	}
	rgb, err := hex.DecodeString(s[1:])
	if err != nil {
		return c, false
	}
	return color.NRGBA{R: rgb[0], G: rgb[1], B: rgb[2], A: 0xff}, true
}

func hexColor(c color.NRGBA) string {
	return "#" + hex.EncodeToString([]byte{c.R, c.G, c.B})
}

// Contrast is the contrast ratio of two colours as WCAG 2 defines it, from 1
// to 21. Transparent counts as white.
func Contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.NRGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 0xff
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
