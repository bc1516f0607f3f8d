package imagecheck

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/png"
	"io"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// How far the chunks of a PNG have come. They stand in this order.
const (
	atStart = iota
	seenHeader
	seenPalette
	seenTransparency
	seenPixels
	seenEnd
)

// The colour types of PNG.
const (
	gray           = 0
	trueColor      = 2
	paletted       = 3
	grayAlpha      = 4
	trueColorAlpha = 6
)

// channels is the number of samples of a pixel of each colour type.
var channels = map[byte]int{gray: 1, trueColor: 3, paletted: 1, grayAlpha: 2, trueColorAlpha: 4}

// lastFilter is the greatest of the filter types that begin a row of pixels.
const lastFilter = 4

// pass is an image of the pixels from (x, y) on that are dx and dy apart.
type pass struct{ x, y, dx, dy int }

var (
	// whole is the one pass of an image that is not interlaced.
	whole = []pass{{0, 0, 1, 1}}
	// adam7 are the passes of one that is.
	adam7 = []pass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
)

// size returns the dimensions of the pass of an image.
func (a pass) size(width, height int) (int, int) {
	return (width - a.x + a.dx - 1) / a.dx, (height - a.y + a.dy - 1) / a.dy
}

var (
	errOrder    = errors.New("its chunks are out of order")
	errLength   = errors.New("a chunk has a wrong length")
	errChecksum = errors.New("the checksum of a chunk is wrong")
	errPixels   = errors.New("it has not as many pixels as its header says")
)

// pngFile walks through the chunks of a PNG that is too large to be decoded. It
// accepts what image/png does, but keeps one row of pixels instead of all.
type pngFile struct {
	r     *bufio.Reader
	stage int
	// sum is the checksum of what was read of the current chunk.
	sum uint32
	// left is how much of the current chunk of pixels was not read.
	left uint32

	width, height int
	depth, color  byte
	interlaced    bool
}

// checkPNG decodes an image if that takes little memory. It verifies others, and
// those that cannot be decoded, to say what is wrong in words of its own.
func checkPNG(file *source) (found Image, err error) {
	p := &pngFile{r: bufio.NewReader(file.from(int64(len(pngSignature))))}
	if err := p.chunk(); err != nil {
		return found, err
	}
	found.Width, found.Height = p.width, p.height
	var failed error
	if cost := p.cost(); p.stage == seenHeader && cost <= file.decoding {
		if found.Thumbnail, failed = decode(file, cost, png.Decode); failed == nil {
			return found, nil
		}
	}
	for p.stage != seenEnd {
		if err := p.chunk(); err != nil {
			return found, err
		}
	}
	return found, failed
}

// cost returns the bytes that decoding takes, at most.
func (p *pngFile) cost() int {
	bytes := p.width * p.height
	if p.color != paletted {
		bytes *= 4
	}
	if p.depth == 16 {
		bytes *= 2
	}
	if p.interlaced { // each pass is an image of its own
		bytes *= 2
	}
	return bytes
}

// chunk reads one chunk, or all successive chunks of pixels.
func (p *pngFile) chunk() error {
	kind, length, err := p.head()
	if err != nil {
		return err
	}
	switch kind {
	case "IHDR":
		err = p.header(length)
	case "PLTE":
		err = p.palette(length)
	case "tRNS":
		err = p.transparency(length)
	case "IDAT":
		err = p.pixels(length)
	case "IEND":
		if p.stage != seenPixels {
			return errOrder
		}
		if length != 0 {
			return errLength
		}
		p.stage = seenEnd
	default:
		err = p.skip(length)
	}
	if err != nil {
		return err
	}
	return p.checksum()
}

func (p *pngFile) header(length uint32) error {
	var h [13]byte
	if p.stage != atStart {
		return errOrder
	}
	if length != uint32(len(h)) {
		return errLength
	}
	if err := p.read(h[:]); err != nil {
		return err
	}
	p.stage = seenHeader
	p.width, p.height = int(binary.BigEndian.Uint32(h[:])), int(binary.BigEndian.Uint32(h[4:]))
	p.depth, p.color, p.interlaced = h[8], h[9], h[12] == 1
	known := false
	switch p.depth {
	case 1, 2, 4:
		known = p.color == gray || p.color == paletted
	case 8:
		known = channels[p.color] != 0
	case 16:
		known = channels[p.color] != 0 && p.color != paletted
	}
	if !known || h[10] != 0 || h[11] != 0 || h[12] > 1 {
		return errors.New("its header is not one of PNG")
	}
	return checkDimensions(p.width, p.height)
}

func (p *pngFile) palette(length uint32) error {
	if p.stage != seenHeader || p.color == gray || p.color == grayAlpha {
		return errOrder
	}
	p.stage = seenPalette
	if n := length / 3; length%3 != 0 || n == 0 || n > 256 || n > 1<<p.depth {
		return errLength
	}
	return p.skip(length)
}

func (p *pngFile) transparency(length uint32) error {
	inOrder, fits := p.stage == seenHeader, false
	switch p.color {
	case gray:
		fits = length == 2
	case trueColor:
		inOrder, fits = inOrder || p.stage == seenPalette, length == 6
	case paletted:
		inOrder, fits = p.stage == seenPalette, length <= 256
	}
	if !inOrder {
		return errOrder
	}
	if !fits {
		return errLength
	}
	p.stage = seenTransparency
	return p.skip(length)
}

// pixels reads all rows of the image, which are compressed over successive
// chunks; length is that of the first.
func (p *pngFile) pixels(length uint32) error {
	if p.stage == seenPixels {
		return p.skip(length) // superfluous, like an unknown chunk
	}
	if p.stage == atStart || p.stage == seenHeader && p.color == paletted {
		return errOrder
	}
	p.stage, p.left = seenPixels, length
	z, err := zlib.NewReader(p)
	if err != nil {
		return err
	}
	passes := whole
	if p.interlaced {
		passes = adam7
	}
	bits := channels[p.color] * int(p.depth)
	buffer := make([]byte, 1+(p.width*bits+7)/8)
	for _, a := range passes {
		width, height := a.size(p.width, p.height)
		if width == 0 {
			continue // then it has no rows either
		}
		row := buffer[:1+(width*bits+7)/8]
		for range height {
			if _, err := io.ReadFull(z, row); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errPixels
			} else if err != nil {
				return err
			}
			if row[0] > lastFilter {
				return errors.New("a row has an unknown filter")
			}
		}
	}
	// The end of the stream verifies its checksum.
	if _, err := io.ReadFull(z, buffer[:1]); err == nil || errors.Is(err, io.EOF) && p.left > 0 {
		return errPixels
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Read implements io.Reader over the content of successive chunks of pixels.
// The checksum of the last is left to read.
func (p *pngFile) Read(b []byte) (int, error) {
	for p.left == 0 {
		if err := p.checksum(); err != nil {
			return 0, err
		}
		kind, length, err := p.head()
		if err != nil {
			return 0, err
		}
		if kind != "IDAT" {
			return 0, errPixels
		}
		p.left = length
	}
	b = b[:min(len(b), int(p.left))]
	if err := p.read(b); err != nil {
		return 0, err
	}
	p.left -= uint32(len(b))
	return len(b), nil
}

// head begins a chunk.
func (p *pngFile) head() (kind string, length uint32, err error) {
	var b [8]byte
	if _, err := io.ReadFull(p.r, b[:]); err != nil {
		return "", 0, err
	}
	p.sum = crc32.ChecksumIEEE(b[4:])
	return string(b[4:]), binary.BigEndian.Uint32(b[:]), nil
}

// read fills b with content of the chunk.
func (p *pngFile) read(b []byte) error {
	_, err := io.ReadFull(p.r, b)
	p.sum = crc32.Update(p.sum, crc32.IEEETable, b)
	return err
}

// skip reads content of the chunk that does not matter.
func (p *pngFile) skip(length uint32) error {
	for length > 0 {
		b, err := p.r.Peek(min(int(length), p.r.Size()))
		if err != nil {
			return err
		}
		p.sum = crc32.Update(p.sum, crc32.IEEETable, b)
		p.r.Discard(len(b))
		length -= uint32(len(b))
	}
	return nil
}

// checksum ends a chunk.
func (p *pngFile) checksum() error {
	var b [4]byte
	if _, err := io.ReadFull(p.r, b[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(b[:]) != p.sum {
		return errChecksum
	}
	return nil
}
