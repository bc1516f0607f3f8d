package qrimage

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/wcag"
)

func TestRefusals(t *testing.T) {
	grey, _ := ParseColor("#959595")
	for _, c := range []struct {
		option string
		text   string
		change func(*Options)
	}{
		{"size", ordinary, func(o *Options) { o.Size = 63 }},
		{"size", ordinary, func(o *Options) { o.Size = 2049 }},
		{"size", strings.Repeat("x", 300), func(o *Options) { o.Size = 64 }},
		{"margin", ordinary, func(o *Options) { o.Margin = -1 }},
		{"margin", ordinary, func(o *Options) { o.Margin = 17 }},
		{"foreground", ordinary, func(o *Options) { o.Foreground = grey }},
		{"foreground", ordinary, func(o *Options) { o.Foreground = Transparent }},
		{"background", ordinary, func(o *Options) { o.Background = color.NRGBA{A: 9} }},
		{"errorCorrection", ordinary, func(o *Options) { o.Level = "" }},
		{"errorCorrection", ordinary, func(o *Options) { o.Logo = square }},
		{"logo", ordinary, func(o *Options) { o.Level, o.Logo = H, image.NewNRGBA(image.Rectangle{}) }},
		{"text", "", func(o *Options) {}},
		{"text", strings.Repeat("x", 2332), func(o *Options) { o.Size = 2048 }},
	} {
		o := options(512, 4, M)
		c.change(&o)
		for _, render := range []func(string, Options) ([]byte, error){PNG, SVG} {
			_, err := render(c.text, o)
			if refusal := (*Error)(nil); !errors.As(err, &refusal) || refusal.Option != c.option {
				t.Errorf("%.40q with %+v: %v, want a refusal of %s", c.text, o, err, c.option)
			}
		}
	}
}

// What the package comment says of 64 pixels and a margin of 4.
func TestLeastSize(t *testing.T) {
	for level, most := range map[Level]int{L: 53, M: 42, Q: 32, H: 24} {
		o := options(64, 4, level)
		if _, err := PNG(strings.Repeat("x", most), o); err != nil {
			t.Errorf("%d bytes at level %s: %v", most, level, err)
		}
		if _, err := PNG(strings.Repeat("x", most+1), o); err == nil {
			t.Errorf("%d bytes at level %s are not refused", most+1, level)
		}
	}
}

// A reader that ignores transparency sees white.
func TestTransparent(t *testing.T) {
	for _, logo := range []image.Image{nil, translucent} {
		o := options(512, 4, H)
		o.Background, o.Logo = Transparent, logo
		out, err := PNG(ordinary, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := png.Decode(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for i := range 512 * 512 {
			c := color.NRGBAModel.Convert(p.At(i%512, i/512)).(color.NRGBA)
			if c.A == 0 && c != Transparent {
				t.Fatalf("a transparent pixel is %v", c)
			}
			seen = seen || c.A == 0
		}
		if !seen {
			t.Error("nothing is transparent")
		}
	}
}

func TestDeterministic(t *testing.T) {
	o := options(300, 2, Q)
	o.Logo = translucent
	for _, render := range []func(string, Options) ([]byte, error){PNG, SVG} {
		a, _ := render(ordinary, o)
		if b, _ := render(ordinary, o); !bytes.Equal(a, b) || len(a) == 0 {
			t.Error("two renderings differ")
		}
		if bytes.Contains(a, []byte("example")) {
			t.Error("the text is in the picture's bytes")
		}
	}
}

func FuzzParseColor(f *testing.F) {
	f.Add("#00fF7f")
	f.Add("transparent")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := ParseColor(s)
		if ok && c != Transparent && !strings.EqualFold(hexColor(c), s) {
			t.Errorf("ParseColor(%q) = %v", s, c)
		}
		if ratio := wcag.Contrast(c, black); ratio < 1 || ratio > 21.001 {
			t.Errorf("contrast of %q with black is %v", s, ratio)
		}
	})
}

func FuzzRender(f *testing.F) {
	f.Add(ordinary, 512, 4, "M", 0, 0)
	f.Add("1", 64, 0, "H", 1, 5000)
	f.Fuzz(func(t *testing.T, text string, size, margin int, level string, w, h int) {
		o := options(size, margin, Level(level))
		if w > 0 && h > 0 && w < 1<<12 && h < 1<<12 && w*h < 1<<16 {
			o.Logo = image.NewNRGBA(image.Rect(-7, 3, w-7, h+3))
		}
		p, err := PNG(text, o)
		_, other := SVG(text, o)
		if (err == nil) != (other == nil) {
			t.Errorf("PNG %v, SVG %v", err, other)
		}
		if refusal := (*Error)(nil); err != nil && !errors.As(err, &refusal) {
			t.Errorf("not a refusal: %v", err)
		} else if err == nil && len(p) == 0 {
			t.Error("nothing rendered")
		}
	})
}

// A size that a client leaves out is 512 pixels, which every code fits into: it
// never has to be raised (completions.md §11, QR size).
func TestStandardSizeHoldsEveryCode(t *testing.T) {
	for modules := 21; modules <= 177; modules += 4 {
		for margin := 0; margin <= MaxMargin; margin++ {
			if _, need := widest(modules, margin, 512); need > 512 {
				t.Errorf("%d modules with a margin of %d need %d pixels", modules, margin, need)
			}
		}
	}
}
