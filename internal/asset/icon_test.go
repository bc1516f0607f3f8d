package asset

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/asset/imagecheck"
	"github.com/waymarkhq/waymark/internal/page"
)

// drawn returns an image whose pixels a function gives.
func drawn(width, height int, at func(x, y int) color.NRGBA) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			m.SetNRGBA(x, y, at(x, y))
		}
	}
	return m
}

func checked(t *testing.T, m image.Image) imagecheck.Image {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	found, err := imagecheck.Check(bytes.NewReader(b.Bytes()), int64(b.Len()), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestIconOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(alpha func() uint8) func(x, y int) color.NRGBA {
		return func(int, int) color.NRGBA {
			n := r.Uint32()
			return color.NRGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), alpha()}
		}
	}
	opaque := func() uint8 { return 255 }
	red, ring := color.NRGBA{200, 30, 40, 255}, func(x, y int) color.NRGBA {
		if dx, dy := x-128, y-128; dx*dx+dy*dy < 100*100 {
			return color.NRGBA{200, 30, 40, 255}
		}
		return color.NRGBA{}
	}
	for name, c := range map[string]struct {
		of            image.Image
		kind          string
		width, height int
		transparent   bool
	}{
		"small":             {drawn(10, 20, func(int, int) color.NRGBA { return red }), "image/png", 10, 20, false},
		"as large as icons": {drawn(96, 96, func(int, int) color.NRGBA { return red }), "image/png", 96, 96, false},
		"one pixel more":    {drawn(97, 97, func(int, int) color.NRGBA { return red }), "image/png", 96, 96, false},
		"logo":              {drawn(256, 256, ring), "image/png", 96, 96, true},
		"wide":              {drawn(4000, 1, func(int, int) color.NRGBA { return red }), "image/png", 96, 1, false},
		"photo":             {drawn(400, 200, noise(opaque)), "image/jpeg", 96, 48, false},
		"noise":             {drawn(96, 96, noise(opaque)), "image/jpeg", 80, 80, false},
		"transparent noise": {drawn(96, 96, noise(func() uint8 { return uint8(r.Uint32()) })), "image/png", 32, 32, true},
	} {
		t.Run(name, func(t *testing.T) {
			icon := iconOf(checked(t, c.of).Thumbnail)
			content, found := strings.CutPrefix(icon, "data:"+c.kind+";base64,")
			if !found || len(icon) > page.MaxLogoBytes {
				t.Fatalf("%d bytes, %.40s", len(icon), icon)
			}
			b, err := base64.StdEncoding.DecodeString(content)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := image.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if size := m.Bounds().Size(); size != image.Pt(c.width, c.height) {
				t.Errorf("%v", size)
			}
			if o, ok := m.(interface{ Opaque() bool }); !ok || o.Opaque() == c.transparent {
				t.Errorf("transparent: %v", !o.Opaque())
			}
			if _, _, _, alpha := m.At(0, 0).RGBA(); name == "logo" && alpha != 0 {
				t.Errorf("the corner has the alpha %d", alpha)
			}
			if got, _, _, _ := m.At(48, 48).RGBA(); name == "logo" && got>>8 != 200 {
				t.Errorf("the middle is %v", m.At(48, 48))
			}
		})
	}
	if icon := iconOf(nil); icon != "" {
		t.Errorf("an image that is not decoded has the icon %q", icon)
	}
}

// BenchmarkIconOf is the time of the worst thumbnail.
func BenchmarkIconOf(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := drawn(96, 96, func(int, int) color.NRGBA {
		n := r.Uint32()
		return color.NRGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), uint8(n >> 24)}
	}).(*image.NRGBA)
	for b.Loop() {
		iconOf(noise)
	}
}
