package imagecheck

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// check checks a file. A PNG is also checked as one that is too large to be decoded,
// with the same outcome.
func check(content []byte, declared string) (Image, error) {
	found, err := Check(bytes.NewReader(content), int64(len(content)), declared)
	if declared == "image/png" {
		streamed, refusal := checkWithin(bytes.NewReader(content), int64(len(content)), declared, 0)
		streamed.Thumbnail = found.Thumbnail
		if streamed != found || (refusal == nil) != (err == nil) {
			return found, fmt.Errorf("decoded: %v, streamed: %v", err, refusal)
		}
	}
	return found, err
}

// code returns the code of a refusal, "" for none.
func code(t *testing.T, err error) string {
	t.Helper()
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		t.Errorf("%v is no refusal", err)
		return "none"
	}
	if err == nil {
		return ""
	}
	return refused.Code
}

// picture is an image with something in it.
func picture(width, height int) image.Image {
	m, random := image.NewNRGBA(image.Rect(0, 0, width, height)), rand.New(rand.NewPCG(3, 4))
	for i := range m.Pix {
		m.Pix[i] = byte(random.Uint32())
	}
	return m
}

func encodedPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodedJPEG(t testing.TB, m image.Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// with returns content with one byte changed.
func with(content []byte, at int, b byte) []byte {
	content = slices.Clone(content)
	content[at] = b
	return content
}

func TestCheck(t *testing.T) {
	p, j := encodedPNG(t, picture(40, 30)), encodedJPEG(t, picture(40, 30), 90)
	want := map[string]Image{
		"image/png":  {Format: "png", ContentType: "image/png", Width: 40, Height: 30},
		"image/jpeg": {Format: "jpeg", ContentType: "image/jpeg", Width: 40, Height: 30},
	}
	tail := []byte("<?php trailing \xff\xd9 IEND")
	wrongRow := madePNG{width: 5, height: 5, depth: 8, color: gray}
	for name, c := range map[string]struct {
		content        []byte
		declared, code string
	}{
		"PNG":                     {p, "image/png", ""},
		"JPEG":                    {j, "image/jpeg", ""},
		"declared with a comment": {p, "Image/PNG; charset=binary", ""},
		"PNG with a tail":         {append(slices.Clone(p), tail...), "image/png", ""},
		"JPEG with a tail":        {append(slices.Clone(j), tail...), "image/jpeg", ""},
		"PNG as JPEG":             {p, "image/jpeg", TypeMismatch},
		"JPEG as PNG":             {j, "image/png", TypeMismatch},
		"text as PNG":             {[]byte("<svg/>"), "image/png", TypeMismatch},
		"empty":                   {nil, "image/png", TypeMismatch},
		"undeclared":              {p, "", UnsupportedType},
		"SVG":                     {[]byte("<svg/>"), "image/svg+xml", UnsupportedType},
		"GIF":                     {[]byte("GIF89a"), "image/gif", UnsupportedType},
		"type with a line":        {p, "image/png\r\nX: y", UnsupportedType},
		"over a MiB":              {append(slices.Clone(p), make([]byte, MaxSize)...), "image/png", TooLarge},

		"PNG signature only": {[]byte(pngSignature), "image/png", Undecodable},
		"damaged header":     {with(p, 23, 31), "image/png", Undecodable},
		"damaged pixels":     {with(p, 100, p[100]+1), "image/png", Undecodable},
		"too few rows": {madePNG{width: 5, height: 5, depth: 8, color: gray}.with(t, 6), "image/png",
			Undecodable},
		"too many rows": {madePNG{width: 5, height: 5, depth: 8, color: gray}.with(t, 4), "image/png",
			Undecodable},
		"one byte too many": {madePNG{width: 5, height: 5, depth: 8, color: gray, extra: 1}.bytes(t), "image/png",
			Undecodable},
		"a row of filter 5": {wrongRow.filtered(5), "image/png", Undecodable},
		"no palette": {madePNG{width: 5, height: 5, depth: 8, color: paletted}.bytes(t), "image/png",
			Undecodable},
		"too long a palette": {madePNG{width: 5, height: 5, depth: 1, color: paletted,
			palette: chunk("PLTE", make([]byte, 9))}.bytes(t), "image/png", Undecodable},
		"a palette of gray": {madePNG{width: 5, height: 5, depth: 8, color: gray,
			palette: chunk("PLTE", make([]byte, 9))}.bytes(t), "image/png", Undecodable},
		"12 bits": {madePNG{width: 5, height: 5, depth: 12, color: gray}.bytes(t), "image/png",
			Undecodable},
		"no colour": {madePNG{width: 5, height: 5, depth: 8, color: 7}.bytes(t), "image/png", Undecodable},
		"no width":  {madePNG{width: 0, height: 5, depth: 8, color: gray}.bytes(t), "image/png", Undecodable},
		"huge PNG": {madePNG{width: 1 << 31, height: 1, depth: 1, color: gray}.with(t, 1), "image/png",
			TooLarge},
		"too wide PNG": {madePNG{width: MaxSide + 1, height: 1, depth: 8, color: gray}.bytes(t), "image/png",
			TooLarge},
		"too high PNG": {madePNG{width: 1, height: MaxSide + 1, depth: 8, color: gray}.bytes(t), "image/png",
			TooLarge},
		"wide PNG": {madePNG{width: MaxSide, height: 1, depth: 8, color: gray}.bytes(t), "image/png", ""},
		"wide, high PNG": {madePNG{width: MaxSide, height: MaxSide, depth: 1, color: gray,
			interlaced: true}.bytes(t), "image/png", ""},
		"PNG in an old style": {append(append([]byte(pngSignature), chunk("IHDR", wrongRow.header())...),
			chunk("IEND", nil)...), "image/png", Undecodable},

		"JPEG signature only": {j[:3], "image/jpeg", Undecodable},
		"no end":              {j[:len(j)-2], "image/jpeg", Undecodable},
		"no scan": {append(slices.Clone(j[:bytes.Index(j, []byte{0xff, sos})]), 0xff, eoi), "image/jpeg",
			Undecodable},
		"12 bits of JPEG":    {with(j, bytes.Index(j, []byte{0xff, sof0})+4, 12), "image/jpeg", Undecodable},
		"arithmetic":         {with(j, bytes.Index(j, []byte{0xff, sof0})+1, 0xc9), "image/jpeg", Undecodable},
		"no height":          {madeJPEG{8, 0, sof0, []byte{0x11}, -1, 0}.bytes(), "image/jpeg", Undecodable},
		"a restart too many": {with(j, len(j)-20, 0xff), "image/jpeg", Undecodable},
		"too wide JPEG":      {madeJPEG{MaxSide + 1, 1, sof0, []byte{0x11}, -1, 0}.bytes(), "image/jpeg", TooLarge},
		"too high JPEG":      {madeJPEG{1, MaxSide + 1, sof0, []byte{0x11}, -1, 0}.bytes(), "image/jpeg", TooLarge},
		"wide JPEG":          {madeJPEG{MaxSide, 1, sof0, []byte{0x11}, -1, 0}.bytes(), "image/jpeg", ""},
		"large JPEG": {madeJPEG{MaxSide, MaxSide, sof0, []byte{0x22, 0x11, 0x11}, -1, 0}.bytes(), "image/jpeg",
			""},
		"large progressive": {madeJPEG{MaxSide, MaxSide, sof2, []byte{0x11, 0x11, 0x11}, -1, 9}.bytes(), "image/jpeg",
			""},
		"large, cut off": {madeJPEG{MaxSide, MaxSide, sof2, []byte{0x11, 0x11, 0x11}, -1, 9}.bytes()[:50_000],
			"image/jpeg", Undecodable},
		"large, odd sampling": {madeJPEG{MaxSide, MaxSide, sof0, []byte{0x11, 0x22, 0x22}, -1, 0}.bytes(), "image/jpeg",
			Undecodable},
		"many scans": {madeJPEG{64, 64, sof2, []byte{0x11}, -1, maxScans}.bytes(), "image/jpeg", Undecodable},
		"some scans": {madeJPEG{64, 64, sof2, []byte{0x11}, -1, maxScans - 1}.bytes(), "image/jpeg", ""},
	} {
		t.Run(name, func(t *testing.T) {
			i, err := check(c.content, c.declared)
			if got := code(t, err); got != c.code {
				t.Errorf("%v, want %q", err, c.code)
			}
			if i.Thumbnail != nil && i.Width == 40 && i.Thumbnail.Rect != image.Rect(0, 0, 40, 30) {
				t.Errorf("the thumbnail has %v", i.Thumbnail.Rect)
			}
			i.Thumbnail = nil
			if expect := want[i.ContentType]; c.code == "" && i.Width == 40 && i != expect {
				t.Errorf("%+v, want %+v", i, expect)
			}
			if err != nil && i != (Image{}) {
				t.Errorf("a refused file is %+v", i)
			}
		})
	}
}

// with returns the file with another height in its header than it has rows.
func (m madePNG) with(t testing.TB, height int) []byte {
	pixels := m
	pixels.width = min(m.width, MaxSide)
	m.height = height
	b := append([]byte(pngSignature), chunk("IHDR", m.header())...)
	return append(append(b, chunk("IDAT", pixels.stream(t))...), chunk("IEND", nil)...)
}

// filtered returns the file of one row with a filter, uncompressed.
func (m madePNG) filtered(filter byte) []byte {
	m.height = 1
	row := append([]byte{filter}, make([]byte, m.width)...)
	a, b := 1, 0
	for _, c := range row {
		a += int(c)
		b += a
	}
	stream := append([]byte{0x78, 0x01, 1, byte(len(row)), 0, ^byte(len(row)), 0xff}, row...)
	stream = append(stream, byte(b>>8), byte(b), byte(a>>8), byte(a))
	file := append([]byte(pngSignature), chunk("IHDR", m.header())...)
	return append(append(file, chunk("IDAT", stream)...), chunk("IEND", nil)...)
}

// A row has a filter that exists: the file of the table is refused for nothing
// else.
func TestFilter(t *testing.T) {
	for filter := range byte(lastFilter + 2) {
		_, err := check(madePNG{width: 5, depth: 8, color: gray}.filtered(filter), "image/png")
		if (err == nil) != (filter <= lastFilter) {
			t.Errorf("filter %d: %v", filter, err)
		}
	}
}

// A file that is cut off before its end, at any byte, is refused; what cannot be
// read is not the image's fault.
func TestCutOff(t *testing.T) {
	for declared, content := range map[string][]byte{"image/png": encodedPNG(t, picture(9, 7)),
		"image/jpeg": encodedJPEG(t, picture(9, 7), 50)} {
		if _, err := check(content, declared); err != nil {
			t.Fatal(err)
		}
		for n := range content {
			if _, err := check(content[:n], declared); err == nil {
				t.Errorf("%s of %d bytes passes without the last %d", declared, len(content), len(content)-n)
			} else if strings.Contains(err.Error(), "EOF") {
				t.Errorf("%v is no message for a person", err)
			}
			// A file that is shorter than was said ends early as well.
			if _, err := Check(bytes.NewReader(content[:n]), int64(len(content)), declared); code(t, err) == "" {
				t.Errorf("%s passes, cut at %d", declared, n)
			}
		}
		cause := errors.New("disk")
		var refused *Error
		if _, err := Check(broken{cause}, 100, declared); !errors.Is(err, cause) || errors.As(err, &refused) {
			t.Errorf("an unreadable file: %v", err)
		}
		half := io.NewSectionReader(halfBroken{content, cause}, 0, int64(len(content)))
		if _, err := Check(half, half.Size(), declared); !errors.Is(err, cause) || errors.As(err, &refused) {
			t.Errorf("a half readable file: %v", err)
		}
	}
}

// halfBroken can be read up to its middle.
type halfBroken struct {
	content []byte
	error
}

func (h halfBroken) ReadAt(b []byte, offset int64) (int, error) {
	half := h.content[:len(h.content)/2]
	n := copy(b, half[min(int(offset), len(half)):])
	if n < len(b) {
		return n, h.error
	}
	return n, nil
}

// Metadata do not matter.
func TestMetadata(t *testing.T) {
	p, j := encodedPNG(t, picture(9, 7)), encodedJPEG(t, picture(9, 7), 50)
	header := len(pngSignature) + 8 + 13 + 4
	text := chunk("tEXt", bytes.Repeat([]byte("x"), 100_000))
	if _, err := check(slices.Concat(p[:header], text, chunk("eXIf", nil), p[header:]), "image/png"); err != nil {
		t.Error(err)
	}
	exif := slices.Concat(segment(0xe1, encodedJPEG(t, picture(99, 99), 50)...), segment(com, []byte("hello")...),
		[]byte{0xff, 0xff})
	if _, err := check(slices.Concat(j[:2], exif, j[2:]), "image/jpeg"); err != nil {
		t.Error(err)
	}
	if _, err := check(slices.Concat(p[:header], with(text, 50, 'y'), p[header:]), "image/png"); code(t,
		err) != Undecodable {
		t.Errorf("damaged metadata: %v", err)
	}
}

// Every usual kind of image passes, with its dimensions.
func TestKinds(t *testing.T) {
	for _, m := range kindsOfPNG() {
		content := m.bytes(t)
		if _, err := png.Decode(bytes.NewReader(content)); err != nil {
			t.Fatalf("%+v: the Go decoder says %v", m, err)
		}
		if i, err := check(content, "image/png"); err != nil || i.Width != m.width || i.Height != m.height {
			t.Errorf("%+v: %+v %v", m, i, err)
		}
	}
	for _, m := range kindsOfJPEG() {
		content := m.bytes()
		if _, err := jpeg.Decode(bytes.NewReader(content)); err != nil {
			t.Fatalf("%+v: the Go decoder says %v", m, err)
		}
		if i, err := check(content, "image/jpeg"); err != nil || i.Width != m.width || i.Height != m.height {
			t.Errorf("%+v: %+v %v", m, i, err)
		}
	}
	for _, m := range []image.Image{
		image.NewGray(image.Rect(0, 0, 20, 10)), image.NewGray16(image.Rect(0, 0, 20, 10)),
		image.NewRGBA64(image.Rect(0, 0, 20, 10)),
		image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Black, color.Transparent}),
		image.NewCMYK(image.Rect(0, 0, 20, 10)),
	} {
		if _, err := check(encodedPNG(t, m), "image/png"); err != nil {
			t.Errorf("%T as PNG: %v", m, err)
		}
		if _, err := check(encodedJPEG(t, m, 90), "image/jpeg"); err != nil {
			t.Errorf("%T as JPEG: %v", m, err)
		}
	}
}
