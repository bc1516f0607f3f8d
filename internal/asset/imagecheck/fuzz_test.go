package imagecheck

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
)

// smallEnough is how many pixels the Go decoders are given.
const smallEnough = 1 << 16

// FuzzPNG holds the check against the Go decoder: of images within the bounds,
// both accept the same.
func FuzzPNG(f *testing.F) {
	for i, m := range kindsOfPNG() {
		if i%5 == 0 {
			f.Add(m.bytes(f))
		}
	}
	f.Add(encodedPNG(f, picture(40, 30)))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range [][]byte{content, mended(content)} {
			i, err := check(content, "image/png")
			config, decoder := png.DecodeConfig(bytes.NewReader(content))
			if decoder == nil && (config.Width > MaxSide || config.Height > MaxSide ||
				config.Width*config.Height > smallEnough || len(content) > MaxSize) {
				continue
			}
			if decoder == nil {
				_, decoder = png.Decode(bytes.NewReader(content))
			}
			if (err == nil) != (decoder == nil) {
				t.Fatalf("checked: %v, decoded: %v", err, decoder)
			}
			if err == nil && (i.Width != config.Width || i.Height != config.Height) {
				t.Fatalf("%+v, decoded %d by %d", i, config.Width, config.Height)
			}
		}
	})
}

// mended returns a PNG with the right checksums of its chunks: what a fuzzer
// changes would be found by nothing else.
func mended(content []byte) []byte {
	content = slices.Clone(content)
	for rest := content[min(len(content), len(pngSignature)):]; len(rest) >= 12; {
		length := binary.BigEndian.Uint32(rest)
		if uint64(length) > uint64(len(rest)-12) {
			break
		}
		binary.BigEndian.PutUint32(rest[8+length:], crc32.ChecksumIEEE(rest[4:8+length]))
		rest = rest[12+length:]
	}
	return content
}

// FuzzJPEG holds the check against the Go decoder: what is accepted is decoded.
func FuzzJPEG(f *testing.F) {
	for i, m := range kindsOfJPEG() {
		if i%5 == 0 {
			f.Add(m.bytes())
		}
	}
	f.Add(encodedJPEG(f, picture(40, 30), 50))
	f.Fuzz(func(t *testing.T, content []byte) {
		i, err := check(content, "image/jpeg")
		if err != nil || i.Width*i.Height > smallEnough {
			return
		}
		m, err := jpeg.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		if size := m.Bounds().Size(); size.X != i.Width || size.Y != i.Height {
			t.Fatalf("%+v, decoded %v", i, size)
		}
	})
}
