package qrimage

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

const ordinary = "https://go.example.com/hello?qr=1"

var (
	black = color.NRGBA{A: 0xff}
	white = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}

	square      = picture(300, 300, func(x, y int) uint8 { return 0xff })
	wide        = picture(400, 90, func(x, y int) uint8 { return 0xff })
	tall        = picture(10, 1000, func(x, y int) uint8 { return 0xff })
	translucent = picture(128, 128, func(x, y int) uint8 { return uint8(max(0, 0xff-4*max(x-64, 64-x, y-64, 64-y))) })
)

func picture(w, h int, alpha func(x, y int) uint8) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p.SetNRGBA(x, y, color.NRGBA{R: uint8(x), G: uint8(y), B: uint8(x * y), A: alpha(x, y)})
		}
	}
	return p
}

// logos are every kind of logo there is, nil first.
var logos = []image.Image{nil, square, wide, tall, translucent}

// colours are pairs at the least contrast, in colour, transparent and light on
// dark.
var colours = func() (pairs [][2]color.NRGBA) {
	for _, p := range [][2]string{
		{"#000000", "#ffffff"}, {"#000000", "transparent"}, {"#949494", "#FFFFFF"}, {"#0000ff", "#a0a0a0"},
		{"#ff0000", "#ffffff"}, {"#6a00b4", "transparent"}, {"#595959", "#00ff00"},
		{"#ffffff", "#000000"}, {"#ffff00", "#000080"}, {"#949494", "#222222"},
	} {
		fg, _ := ParseColor(p[0])
		bg, _ := ParseColor(p[1])
		pairs = append(pairs, [2]color.NRGBA{fg, bg})
	}
	return pairs
}()

func options(size, margin int, level Level) Options {
	return Options{Size: size, Margin: margin, Foreground: black, Background: white, Level: level}
}

// collector renders what the tests want read.
type collector struct {
	t       *testing.T
	samples []sample // with their PNGs
	drawn   []sample // of which there are SVGs
	svgs    [][]byte
	sizes   []int
	refused int
}

// add renders text as PNG, SVG or both, checks what can be seen without a
// reader, and keeps it for the reader. It returns false when text and options
// do not fit.
func (c *collector) add(text string, o Options, asPNG, asSVG bool) bool {
	c.t.Helper()
	s := sample{text: text, o: o}
	var svg []byte
	var err error
	if asPNG {
		s.png, err = PNG(text, o)
	}
	if asSVG && err == nil {
		svg, err = SVG(text, o)
	}
	if refusal := (*Error)(nil); errors.As(err, &refusal) && refusal.Option == "size" {
		c.refused++
		return false
	} else if err != nil {
		c.t.Fatal(err)
	}
	if asPNG {
		config, err := png.DecodeConfig(bytes.NewReader(s.png))
		if err != nil || config.Width != o.Size || config.Height != o.Size {
			c.t.Fatalf("%v: %v %v", s, config, err)
		}
		c.samples = append(c.samples, s)
	}
	if asSVG {
		c.drawn = append(c.drawn, s)
		c.svgs, c.sizes = append(c.svgs, svg), append(c.sizes, o.Size)
	}
	return true
}

// read reads everything that was added, each as PNG and as SVG. An SVG that is
// drawn as the same pixels as the PNG needs no second reading.
func (c *collector) read() {
	c.t.Helper()
	samples := c.samples
	for i, drawn := range rasterize(c.t, c.svgs, c.sizes) {
		s := c.drawn[i]
		if s.o.Logo == nil && s.png != nil && samePixels(s.png, drawn) {
			continue
		}
		if s.png != nil && s.o.Logo == nil {
			c.t.Errorf("%v: the SVG is drawn otherwise than the PNG", s)
		}
		s.png = drawn
		samples = append(samples, s)
	}
	c.t.Logf("%d PNGs, %d SVGs, %d refused", len(c.samples), len(c.drawn), c.refused)
	read(c.t, samples)
}

func samePixels(a, b []byte) bool {
	p, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return false
	}
	q, err := png.Decode(bytes.NewReader(b))
	if err != nil || p.Bounds() != q.Bounds() {
		return false
	}
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			c, d := color.NRGBAModel.Convert(p.At(x, y)).(color.NRGBA),
				color.NRGBAModel.Convert(q.At(x, y)).(color.NRGBA)
			if c.R != d.R || c.G != d.G || c.B != d.B {
				return false
			}
		}
	}
	return true
}

func TestRead(t *testing.T) {
	t.Parallel()
	c := &collector{t: t}
	turn := 0
	for _, size := range []int{64, 65, 128, 512} {
		for _, margin := range []int{0, 1, 4, 16} {
			for _, level := range []Level{L, M, Q, H} {
				for i, logo := range logos {
					if logo != nil && (level == L || level == M) {
						continue
					}
					for j, pair := range colours {
						if i > 0 && (i+j)%5 != 0 || size > 128 && (i+j)%4 != 0 {
							continue // the rest is left to chance, in TestReadRandom
						}
						if turn++; turn%share != 0 {
							continue
						}
						o := options(size, margin, level)
						o.Foreground, o.Background, o.Logo = pair[0], pair[1], logo
						c.add(ordinary, o, true, true)
					}
				}
			}
		}
	}
	for _, logo := range logos[:len(logos)/share] { // they are 4 million pixels each
		o := options(2048, 4, H)
		o.Logo = logo
		c.add(ordinary, o, true, true)
	}
	c.read()
}

// link is an ordinary link or one of those that owners also make.
func link(r *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	word := func(n int) string {
		b := make([]byte, 1+r.IntN(n))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	link := "https://" + []string{"go.example.com", "l.ex.co", "xn--bcher-kva.example",
		"links.a-longer-name.example.org"}[r.IntN(4)] + "/"
	switch r.IntN(16) { // long ones are rare, and take the library long
	default:
		link += word(8)
	case 0, 1, 2, 3:
		link += word(12) + "/" + word(20)
	case 4, 5, 6, 7:
		runes := []rune("äöüßéñçøł日本語中文한국어русскийελλάδα🙂🚀")
		var slug []rune
		for range 1 + r.IntN(12) {
			slug = append(slug, runes[r.IntN(len(runes))])
		}
		link += url.PathEscape(string(slug))
	case 8:
		link += word(300)
		for len(link) < 380 && r.IntN(3) > 0 {
			link += "/" + word(40)
		}
	}
	return link[:min(len(link), 395)] + "?qr=1"
}

func TestReadRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	c := &collector{t: t}
	for len(c.samples)+len(c.drawn) < 2000/share {
		pair := colours[r.IntN(len(colours))]
		o := Options{
			// Mostly small: there is the limit, and reading is fast.
			Size:       64 + int(400*r.Float64()*r.Float64()),
			Margin:     r.IntN(7),
			Foreground: pair[0], Background: pair[1],
			Level: []Level{L, M, Q, H}[r.IntN(4)],
		}
		if o.Level == Q || o.Level == H {
			o.Logo = logos[r.IntN(len(logos))]
		}
		if r.IntN(10) == 0 {
			o.Margin = 7 + r.IntN(10)
		}
		asPNG := r.IntN(2) == 0
		c.add(link(r), o, asPNG, !asPNG)
	}
	c.read()
}

// Every version of code, filled to different degrees, is read at the least
// size that is not refused, with and without a logo.
func TestReadSmallest(t *testing.T) {
	t.Parallel()
	c := &collector{t: t}
	for n := 1; n <= 1200/share; n += 1 + n/5 {
		for i, level := range []Level{L, M, Q, H} {
			o := options(MaxSize, (n+i)%5, level)
			if level == Q || level == H {
				o.Logo = logos[n%len(logos)]
			}
			text := strings.Repeat("aB3-", n/4+1)[:n]
			l, err := newLayout(text, o)
			if err != nil {
				t.Fatal(err)
			}
			_, need := widest(l.modules, o.Margin, 0)
			if o.Size = max(need, MinSize); !c.add(text, o, true, true) {
				t.Errorf("%d bytes are refused at %d px", n, o.Size)
			}
		}
	}
	c.read()
}
