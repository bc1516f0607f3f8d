package page

import (
	"fmt"
	"image/color"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/wcag"
)

// colours are a whole palette, by the names of Palette's members.
type colours struct{ background, surface, border, text, muted, accent, secondary, tertiary string }

// official palettes are quiet, and those of each platform: Material on Android, the
// grouped greys and the blue of iOS.
var (
	androidLight = colours{"#eef3ee", "#ffffff", "#dbe3dc", "#191d1a", "#4d5a51", "#276a4b", "#d5eadc", "#276a4b"}
	androidDark  = colours{"#101511", "#1a201c", "#2f3831", "#e2e8e2", "#a9b5ac", "#8fd6ae", "#2b3d33", "#8fd6ae"}
	iosLight     = colours{"#f2f2f7", "#ffffff", "#dedee3", "#111113", "#5f5f67", "#0a66d8", "#e8eef8", "#0a66d8"}
	iosDark      = colours{"#000000", "#1c1c1e", "#38383c", "#f5f5f7", "#a5a5ad", "#5aa9ff", "#2c3443", "#6cb3ff"}
)

// palette returns the official colours of a base template with the owner's over
// them.
func palette(base binding.Base, scheme Scheme, a Appearance) colours {
	var c colours
	var own Palette
	switch {
	case scheme == Dark && base == binding.Android:
		c, own = androidDark, a.Dark.Value
	case scheme == Dark:
		c, own = iosDark, a.Dark.Value
	case base == binding.Android:
		c, own = androidLight, a.Light.Value
	default:
		c, own = iosLight, a.Light.Value
	}
	either := func(own opt.Opt[string], official string) string {
		if _, ok := wcag.ParseHex(own.Value); ok {
			return own.Value
		}
		return official
	}
	return colours{
		either(own.Background, c.background), either(own.Surface, c.surface), either(own.Border, c.border),
		either(own.Text, c.text), either(own.Muted, c.muted), either(own.Accent, c.accent),
		either(own.Secondary, c.secondary), either(own.Tertiary, c.tertiary),
	}
}

// on returns the colour of a label on a button: black or white, whichever can be
// told better from it.
func on(button string) string {
	c := parseColour(button)
	if wcag.Contrast(c, color.NRGBA{A: 0xff}) >= wcag.Contrast(c, color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}) {
		return "#000"
	}
	return "#fff"
}

// parseColour reads a colour of a palette.
func parseColour(s string) color.NRGBA {
	c, _ := wcag.ParseHex(s)
	return c
}

// CheckContrast returns the colours of a configuration that cannot be read well
// enough (WCAG 2, level AA), each with the reason low_contrast. Paths are relative
// to the configuration. A draft may have such colours, a version may not.
func CheckContrast(base binding.Base, config Config) []fault.Detail {
	var p fault.Problems
	look := config.Appearance.Value
	for _, scheme := range [...]Scheme{Light, Dark} {
		own := look.Light.Value
		if scheme == Dark {
			own = look.Dark.Value
		}
		c := palette(base, scheme, look)
		background := side{"background", c.background, own.Background}
		surface := side{"surface", c.surface, own.Surface}
		text, muted := side{"text", c.text, own.Text}, side{"muted", c.muted, own.Muted}
		for _, pair := range [...]struct {
			front, back side
			least       float64
		}{
			{text, background, wcag.ForText}, {text, surface, wcag.ForText},
			{muted, background, wcag.ForText}, {muted, surface, wcag.ForText},
			{side{"tertiary", c.tertiary, own.Tertiary}, surface, wcag.ForText},
			{side{"accent", c.accent, own.Accent}, surface, wcag.ForControl},
		} {
			pair.front.check(&p, scheme, pair.back, pair.least)
		}
	}
	return found(&p)
}

// side is one of two colours that meet.
type side struct {
	name, colour string
	own          opt.Opt[string] // what the owner chose
}

// check adds a problem if what lies behind a colour is too much like it. It stands
// at the one of both that the owner chose.
func (s side) check(p *fault.Problems, scheme Scheme, behind side, least float64) {
	front, back := parseColour(s.colour), parseColour(behind.colour)
	ratio := wcag.Contrast(front, back)
	if ratio >= least {
		return
	}
	at, other := s, behind
	if !s.own.Set {
		at, other = behind, s
	}
	whose := ""
	if !other.own.Set {
		whose = " of the official template"
	}
	change := "lighter"
	if wcag.Luminance(parseColour(at.colour)) < wcag.Luminance(parseColour(other.colour)) {
		change = "darker"
	}
	// Rounded down: a ratio that is too low never looks sufficient.
	p.Add(fault.Pointer("appearance", string(scheme), at.name), fault.ReasonLowContrast,
		"the contrast of %s %s with %s %s%s is %s:1, at least %g:1 is needed; choose a %s %s",
		at.name, at.colour, other.name, other.colour, whose, fmt.Sprintf("%.2f", float64(int(ratio*100))/100), least,
		change, at.name)
}
