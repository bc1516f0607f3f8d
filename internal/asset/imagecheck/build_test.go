package imagecheck

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// chunk returns a chunk of a PNG.
func chunk(kind string, content []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	b = append(append(b, kind...), content...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// madePNG describes a PNG of any kind; the Go encoder makes only few.
type madePNG struct {
	width, height int
	depth, color  byte
	interlaced    bool
	// palette is what to write before the pixels: PLTE and tRNS.
	palette []byte
	// pixels is where filters and samples come from; nil is zeros, unfiltered.
	pixels *rand.Rand
	// extra bytes of pixels, or missing ones.
	extra int
	// split is how many bytes of pixels a chunk has at most, 0 for no limit.
	split int
}

func (m madePNG) header() []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(m.width))
	b = binary.BigEndian.AppendUint32(b, uint32(m.height))
	b = append(b, m.depth, m.color, 0, 0, 0)
	if m.interlaced {
		b[12] = 1
	}
	return b
}

// stream returns the compressed pixels.
func (m madePNG) stream(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	passes := whole
	if m.interlaced {
		passes = adam7
	}
	for _, a := range passes {
		width, height := a.size(m.width, m.height)
		if width <= 0 {
			continue
		}
		row := make([]byte, 1+(width*channels[m.color]*int(m.depth)+7)/8)
		for range height {
			if m.pixels != nil {
				row[0] = byte(m.pixels.IntN(lastFilter + 1))
				for i := range row[1:] {
					row[1+i] = byte(m.pixels.Uint32())
				}
			}
			if _, err := z.Write(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := z.Write(make([]byte, max(m.extra, 0))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bytes returns the file.
func (m madePNG) bytes(t testing.TB) []byte {
	t.Helper()
	b := append([]byte(pngSignature), chunk("IHDR", m.header())...)
	b = append(b, m.palette...)
	stream := m.stream(t)
	for m.split > 0 && len(stream) > m.split {
		b, stream = append(b, chunk("IDAT", stream[:m.split])...), stream[m.split:]
	}
	return append(append(b, chunk("IDAT", stream)...), chunk("IEND", nil)...)
}

// kindsOfPNG are all combinations of depth and colour, plain and interlaced, in
// sizes that leave some of the seven images of an interlaced one empty.
func kindsOfPNG() (all []madePNG) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []struct {
		color  byte
		depths []byte
	}{{gray, []byte{1, 2, 4, 8, 16}}, {trueColor, []byte{8, 16}}, {paletted, []byte{1, 2, 4, 8}},
		{grayAlpha, []byte{8, 16}}, {trueColorAlpha, []byte{8, 16}}} {
		for _, depth := range kind.depths {
			palette := [][]byte{nil}
			switch kind.color {
			case gray:
				palette = append(palette, chunk("tRNS", make([]byte, 2)))
			case trueColor:
				palette = append(palette, chunk("tRNS", make([]byte, 6)), chunk("PLTE", make([]byte, 9)))
			case paletted:
				plte := chunk("PLTE", make([]byte, 3<<depth))
				palette = [][]byte{plte, append(plte[:len(plte):len(plte)], chunk("tRNS", make([]byte, 2))...)}
			}
			for _, p := range palette {
				for _, size := range [][2]int{{1, 1}, {3, 2}, {4, 9}, {33, 17}} {
					for _, interlaced := range []bool{false, true} {
						for _, split := range []int{0, 7} {
							all = append(all, madePNG{size[0], size[1], depth, kind.color, interlaced, p, random, 0,
								split})
						}
					}
				}
			}
		}
	}
	return all
}

// madeJPEG describes a JPEG whose every value is zero; the Go encoder makes
// neither progressive ones nor every sampling.
type madeJPEG struct {
	width, height int
	frame         byte
	// sampling of each component, as in the frame header.
	sampling []byte
	// adobe is the transform in Adobe's segment, or negative for no segment.
	adobe int
	// scans of a progressive one after the first; each refines everything.
	scans int
}

func segment(marker byte, content ...byte) []byte {
	return append([]byte{0xff, marker, byte((len(content) + 2) >> 8), byte(len(content) + 2)}, content...)
}

func (m madeJPEG) bytes() []byte {
	b := []byte{0xff, 0xd8}
	if m.adobe >= 0 {
		b = append(b, segment(app14, append([]byte("Adobe\x00\x64\x00\x00\x00\x00"), byte(m.adobe))...)...)
	}
	b = append(b, segment(dqt, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	frame := []byte{8, byte(m.height >> 8), byte(m.height), byte(m.width >> 8), byte(m.width), byte(len(m.sampling))}
	widest, highest, blocks := 1, 1, 0
	for i, s := range m.sampling {
		frame = append(frame, byte(i+1), s, 0)
		if len(m.sampling) > 1 {
			widest, highest = max(widest, int(s>>4)), max(highest, int(s&15))
			blocks += int(s>>4) * int(s&15)
		} else {
			blocks = 1
		}
	}
	b = append(b, segment(m.frame, frame...)...)
	// One code of one bit in either table: no difference, and end of block. In
	// the table of AC a second one, which ends 16384 blocks.
	b = append(b, segment(dht, append([]byte{0x00, 1}, make([]byte, 15+1)...)...)...)
	b = append(b, segment(dht, append([]byte{0x10, 1, 1}, append(make([]byte, 14), 0x00, 0xe0)...)...)...)
	columns, rows := pass{dx: 8 * widest, dy: 8 * highest}.size(m.width, m.height)
	groups := columns * rows
	scan := []byte{byte(len(m.sampling))}
	for i := range m.sampling {
		scan = append(scan, byte(i+1), 0)
	}
	if m.frame == sof2 {
		b = append(b, segment(sos, append(scan, 0, 0, 0)...)...)
		b = append(b, make([]byte, (groups*blocks+7)/8)...)
		for range m.scans {
			b = append(b, segment(sos, 1, 1, 0, 1, 63, 0)...)
			// Code 10 and 14 zeros, again and again.
			b = append(b, bytes.Repeat([]byte{0x80, 0x00}, (groups*blocks+16383)/16384)...)
		}
	} else {
		b = append(b, segment(sos, append(scan, 0, 63, 0)...)...)
		b = append(b, make([]byte, (groups*blocks*2+7)/8)...)
	}
	return append(b, 0xff, eoi)
}

// kindsOfJPEG are usual combinations of frame and sampling.
func kindsOfJPEG() (all []madeJPEG) {
	for _, frame := range []byte{sof0, sof1, sof2} {
		for _, s := range [][]byte{
			{0x11}, {0x22}, {0x11, 0x11, 0x11}, {0x21, 0x11, 0x11}, {0x12, 0x11, 0x11}, {0x22, 0x11, 0x11},
			{0x41, 0x11, 0x11}, {0x42, 0x11, 0x11}, {0x22, 0x12, 0x12},
			{0x11, 0x11, 0x11, 0x11}, {0x22, 0x11, 0x11, 0x22},
		} {
			for adobe := -1; adobe <= 2; adobe++ {
				if len(s) == 4 && adobe < 0 {
					continue // which no decoder knows how to show
				}
				all = append(all, madeJPEG{33, 17, frame, s, adobe, 3})
			}
		}
	}
	return all
}

// broken is a file that cannot be read.
type broken struct{ error }

func (b broken) ReadAt([]byte, int64) (int, error) { return 0, b.error }
