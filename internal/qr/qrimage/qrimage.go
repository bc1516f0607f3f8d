// Package qrimage renders QR codes as PNG and SVG. It is pure: the same text
// and options give the same bytes, so that callers can make an ETag of them
// (completions.md §6).
//
// # What is readable
//
// Module edges lie on whole pixels, without anti-aliasing, and the pixels left
// over widen the quiet zone. A module is a whole number of pixels from 2 on.
// Where that does not fit it is 1¾ or 1⅔ pixels, as a fixed pattern of wide
// and narrow modules: zbar reads those patterns always, but misses some of
// every other width below 2, of anti-aliased ones too. What fits none of them
// is refused. At 64 pixels with a margin of 4 that leaves texts of 53, 42, 32
// and 24 bytes for the levels L, M, Q and H.
//
// Light on dark is allowed. Some readers have to be told to look for it.
package qrimage

import (
	"fmt"
	"image"
	"image/color"

	"github.com/waymarkhq/waymark/internal/wcag"
)

// Level is the error correction: how much of a code may be damaged.
type Level string

// The levels restore about 7, 15, 25 and 30 per cent.
const (
	L Level = "L"
	M Level = "M"
	Q Level = "Q"
	H Level = "H"
)

// Bounds of the options.
const (
	MinSize, MaxSize = 64, 2048 // pixels
	MaxMargin        = 16       // modules
)

// Options are how a code looks. All of them are required but the logo.
type Options struct {
	Size   int // width and height in pixels
	Margin int // the least width of the quiet zone, in modules
	// Background may be Transparent; other than that, colours are opaque.
	Foreground, Background color.NRGBA
	Level                  Level
	// Logo is drawn in the middle, over up to a fifth of the symbol's width.
	// It needs level Q or H; nil is none.
	Logo image.Image
}

// Error is a refusal. Its message is for the client.
type Error struct {
	// Option is what was refused, named as in the API: "size", "margin",
	// "foreground", "background", "errorCorrection", "logo", or "text" for a
	// text that fits no code.
	Option  string
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(option, format string, args ...any) error {
	return &Error{Option: option, Message: fmt.Sprintf(format, args...)}
}

// Fits refuses a text that cannot be drawn with the options, without drawing it.
func Fits(text string, o Options) error {
	_, err := newLayout(text, o)
	return err
}

// Check refuses options that no text can be rendered with.
func (o Options) Check() error {
	switch {
	case o.Size < MinSize || o.Size > MaxSize:
		return refuse("size", "The size must be from %d to %d pixels.", MinSize, MaxSize)
	case o.Margin < 0 || o.Margin > MaxMargin:
		return refuse("margin", "The margin must be from 0 to %d modules.", MaxMargin)
	case o.Foreground.A != 0xff:
		return refuse("foreground", "The foreground must be opaque.")
	case o.Background.A != 0xff && o.Background != Transparent:
		return refuse("background", "The background must be opaque or wholly transparent.")
	case wcag.Contrast(o.Foreground, o.Background) < wcag.ForControl:
		return refuse("foreground", "The contrast of foreground and background must be at least %g:1; a transparent "+
			"background counts as white.", wcag.ForControl)
	}
	if _, ok := levels[o.Level]; !ok {
		return refuse("errorCorrection", "The error correction must be L, M, Q or H.")
	}
	if o.Logo != nil && o.Level != Q && o.Level != H {
		return refuse("errorCorrection", "A code with a logo needs error correction Q or H.")
	}
	if o.Logo != nil && o.Logo.Bounds().Empty() {
		return refuse("logo", "The logo is empty.")
	}
	return nil
}
