package qrimage

import (
	"encoding/hex"
	"image/color"

	"github.com/waymarkhq/waymark/internal/wcag"
)

// Transparent is the background that shows what lies behind the code. It is
// white to readers that ignore transparency.
var Transparent = color.NRGBA{R: 0xff, G: 0xff, B: 0xff}

// ParseColor reads "#RRGGBB" or "transparent".
func ParseColor(s string) (c color.NRGBA, ok bool) {
	if s == "transparent" {
		return Transparent, true
	}
	return wcag.ParseHex(s)
}

func hexColor(c color.NRGBA) string {
	return "#" + hex.EncodeToString([]byte{c.R, c.G, c.B})
}
