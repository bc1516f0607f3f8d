package qrimage

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/wcag"
)

// sample is a rendered code and what it must be read as.
type sample struct {
	text string
	o    Options
	png  []byte
}

func (s sample) String() string {
	logo := ""
	if s.o.Logo != nil {
		logo = fmt.Sprint(" logo ", s.o.Logo.Bounds().Size())
	}
	return fmt.Sprintf("%d px, margin %d, level %s, %s on %s%s, %d bytes %q", s.o.Size, s.o.Margin, s.o.Level,
		hexColor(s.o.Foreground), hexColor(s.o.Background), logo, len(s.text), s.text)
}

// inverted tells whether a reader has to look for light modules on dark.
func (s sample) inverted() bool {
	return wcag.Luminance(s.o.Foreground) > wcag.Luminance(s.o.Background)
}

// program is where an installed reader is. Without it nothing is tested, so
// the test fails.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed: run scripts/tools", name)
	}
	return path
}

// read has zbar read every sample as it is, and fails where it reads anything
// else than the text. Margins of 0 need nothing around them: to zbar, what
// lies outside a picture is quiet.
func read(t *testing.T, samples []sample) {
	t.Helper()
	zbarimg := program(t, "zbarimg")
	dir := t.TempDir()
	var plain, inverted []string
	for i, s := range samples {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, s.png, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.inverted() {
			inverted = append(inverted, file)
		} else {
			plain = append(plain, file)
		}
	}

	var mu sync.Mutex
	texts := map[string][]string{}
	var group sync.WaitGroup
	start := func(files []string, flags ...string) {
		group.Go(func() {
			args := append([]string{"--xml", "--quiet", "--nodbus", "-Sdisable", "-Sqrcode.enable"}, flags...)
			var failure bytes.Buffer
			c := exec.Command(zbarimg, append(args, files...)...)
			c.Stderr = &failure
			out, _ := c.Output() // it fails when it finds no code in a file
			mu.Lock()
			defer mu.Unlock()
			if err := parse(out, texts); err != nil {
				t.Errorf("zbarimg: %v\n%s", err, failure.Bytes())
			}
		})
	}
	split(plain, func(files []string) { start(files) })
	split(inverted, func(files []string) { start(files, "-Stest-inverted") })
	group.Wait()

	for i, s := range samples {
		if got := texts[filepath.Join(dir, fmt.Sprint(i))]; len(got) != 1 || got[0] != s.text {
			t.Errorf("%v: read as %q", s, got)
		}
	}
}

// split deals files out to the processors.
func split(files []string, f func([]string)) {
	n := runtime.GOMAXPROCS(0)
	parts := make([][]string, n)
	for i, file := range files {
		parts[i%n] = append(parts[i%n], file)
	}
	for _, part := range parts {
		if len(part) > 0 {
			f(part)
		}
	}
}

func parse(out []byte, texts map[string][]string) error {
	var barcodes struct {
		Source []struct {
			Href string   `xml:"href,attr"`
			Data []string `xml:"index>symbol>data"`
		} `xml:"source"`
	}
	if err := xml.Unmarshal(out, &barcodes); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, s := range barcodes.Source {
		texts[s.Href] = append(texts[s.Href], s.Data...)
	}
	return nil
}

// rasterize has rsvg-convert draw SVGs at their own sizes, and returns each as
// a PNG. Starting it costs more than drawing, so it gets sheets of many.
func rasterize(t *testing.T, svgs [][]byte, sizes []int) [][]byte {
	t.Helper()
	const tallest = 8192
	out := make([][]byte, len(svgs))
	var group sync.WaitGroup
	for from, to := 0, 0; from < len(svgs); from = to {
		height, width := 0, 0
		for ; to < len(svgs) && height+sizes[to] <= tallest; to++ {
			height, width = height+sizes[to], max(width, sizes[to])
		}
		var sheet bytes.Buffer
		fmt.Fprintf(&sheet, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">`, width, height)
		y := 0
		for i := from; i < to; i++ {
			fmt.Fprintf(&sheet, `<g transform="translate(0 %d)">%s</g>`, y, svgs[i])
			y += sizes[i]
		}
		sheet.WriteString("</svg>")
		picture := drawSVG(t, sheet.Bytes())
		group.Go(func() {
			y := 0
			for i := from; i < to; i++ {
				one := image.NewNRGBA(image.Rect(0, 0, sizes[i], sizes[i]))
				draw.Draw(one, one.Rect, picture, image.Pt(0, y), draw.Src)
				y += sizes[i]
				out[i], _ = encode(one)
			}
		})
	}
	group.Wait()
	return out
}

// drawSVG draws one SVG, on white where it is transparent.
func drawSVG(t *testing.T, svg []byte) image.Image {
	t.Helper()
	c := exec.Command(program(t, "rsvg-convert"), "--background-color=white", "--unlimited")
	c.Stdin = bytes.NewReader(svg)
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		t.Fatalf("rsvg-convert: %v\n%s", err, failure.String())
	}
	picture, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}
