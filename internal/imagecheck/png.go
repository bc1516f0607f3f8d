package imagecheck

import (
	"bufio"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
)

// pngFile reads the chunks of a PNG in turn (ISO/IEC 15948). The chunk under
// way is fed to its checksum as it is read.
type pngFile struct {
	r     *bufio.Reader
	crc   hash.Hash32
	name  string
	left  uint32 // bytes of the chunk that are not read yet
	ended bool   // its checksum was read
	one   [1]byte

	depth, color, interlace byte
	width, height           int
	// stage is how far the order of chunks has got.
	stage stage
}

type stage int

const (
	start stage = iota
	seenHeader
	seenPalette
	seenTransparency
	seenData
)

// channels of a pixel by colour type; the depths that go with a type.
var (
	channels = map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
	depths   = map[byte]string{0: "\x01\x02\x04\x08\x10", 2: "\x08\x10", 3: "\x01\x02\x04\x08", 4: "\x08\x10", 6: "\x08\x10"}
)

const (
	gray      = 0
	trueColor = 2
	paletted  = 3
)

// checkPNG reads a PNG to its end.
func checkPNG(r *bufio.Reader) (width, height int, err error) {
	if _, err := r.Discard(len(pngSignature)); err != nil {
		return 0, 0, err
	}
	p := &pngFile{r: r, crc: crc32.NewIEEE(), ended: true}
	for {
		if err := p.next(); err != nil {
			return 0, 0, err
		}
		if p.stage == start && p.name != "IHDR" {
			return 0, 0, undecodable("it does not begin with its header")
		}
		switch p.name {
		case "IHDR":
			err = p.header()
		case "PLTE":
			err = p.palette()
		case "tRNS":
			err = p.transparency()
		case "IDAT":
			if p.stage != seenData { // empty ones may follow
				err = p.data()
			}
		case "IEND":
			if p.stage != seenData || p.left != 0 {
				return 0, 0, undecodable("it ends without its pixels")
			}
			return p.width, p.height, p.end()
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// next goes to the next chunk, past what is unread of this one.
func (p *pngFile) next() error {
	if err := p.end(); err != nil {
		return err
	}
	var head [8]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return err
	}
	p.left, p.name, p.ended = binary.BigEndian.Uint32(head[:4]), string(head[4:]), false
	if p.left > 1<<31-1 {
		return undecodable("a chunk is too long")
	}
	p.crc.Reset()
	p.crc.Write(head[4:])
	return nil
}

// end reads the rest of the chunk and compares its checksum.
func (p *pngFile) end() error {
	if p.ended {
		return nil
	}
	if n, err := io.CopyN(p.crc, p.r, int64(p.left)); err != nil {
		p.left -= uint32(n)
		return err
	}
	p.left = 0
	var sum [4]byte
	if _, err := io.ReadFull(p.r, sum[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(sum[:]) != p.crc.Sum32() {
		return undecodable("a checksum is wrong")
	}
	p.ended = true
	return nil
}

func (p *pngFile) header() error {
	var h [13]byte
	if p.stage != start || p.left != uint32(len(h)) {
		return undecodable("its header is damaged")
	}
	if err := p.take(h[:]); err != nil {
		return err
	}
	width, height := binary.BigEndian.Uint32(h[:4]), binary.BigEndian.Uint32(h[4:8])
	p.depth, p.color, p.interlace = h[8], h[9], h[12]
	known := false
	for _, d := range []byte(depths[p.color]) {
		known = known || d == p.depth
	}
	if width > 1<<31-1 || height > 1<<31-1 || !known || h[10] != 0 || h[11] != 0 || p.interlace > 1 {
		return undecodable("its header is damaged")
	}
	p.width, p.height, p.stage = int(width), int(height), seenHeader
	return checkBounds(p.width, p.height)
}

func (p *pngFile) take(b []byte) error {
	n, err := io.ReadFull(p.r, b)
	p.crc.Write(b[:n])
	p.left -= uint32(n)
	return err
}

func (p *pngFile) palette() error {
	colors := p.left / 3
	if p.stage != seenHeader || p.left%3 != 0 || colors == 0 || colors > 256 || p.color == gray || p.color == 4 ||
		p.color == paletted && colors > 1<<p.depth {
		return undecodable("its palette is damaged")
	}
	p.stage = seenPalette
	return nil
}

func (p *pngFile) transparency() error {
	ok := false
	switch p.color {
	case gray:
		ok = p.stage == seenHeader && p.left == 2
	case trueColor:
		ok = (p.stage == seenHeader || p.stage == seenPalette) && p.left == 6
	case paletted:
		ok = p.stage == seenPalette && p.left <= 256
	}
	if !ok {
		return undecodable("its transparency is damaged")
	}
	p.stage = seenTransparency
	return nil
}

// data reads the pixels from the run of data chunks that has begun.
func (p *pngFile) data() error {
	if p.stage == seenHeader && p.color == paletted {
		return undecodable("its palette is missing")
	}
	p.stage = seenData
	z, err := zlib.NewReader((*pixels)(p))
	if err == nil {
		err = p.rows(z)
	}
	if err == nil {
		// The end of the stream, with its checksum, must be here.
		if _, err = io.ReadFull(z, p.one[:]); err == nil {
			return undecodable("it has too many pixels")
		} else if err == io.EOF {
			err = nil
		}
	}
	if err == nil && p.name == "IDAT" && p.left != 0 {
		return undecodable("it has too many pixels")
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary) {
		return undecodable("its data is damaged")
	}
	return err
}

// passes are the start and step of the columns and rows of an interlaced image.
var passes = [...]struct{ x, dx, y, dy int }{
	{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4}, {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2},
}

// rows reads every row: a byte that names its filter, and the pixels.
func (p *pngFile) rows(z io.Reader) error {
	buffer := make([]byte, 4096)
	read := func(width, height int) error {
		if width == 0 || height == 0 {
			return nil
		}
		bytes := (width*channels[p.color]*int(p.depth) + 7) / 8
		for range height {
			if _, err := io.ReadFull(z, buffer[:1]); err != nil {
				return err
			}
			if buffer[0] > 4 {
				return undecodable("a row has an unknown filter")
			}
			for left := bytes; left > 0; {
				n, err := io.ReadFull(z, buffer[:min(left, len(buffer))])
				if err != nil {
					return err
				}
				left -= n
			}
		}
		return nil
	}
	if p.interlace == 0 {
		return read(p.width, p.height)
	}
	for _, pass := range passes {
		if err := read((p.width-pass.x+pass.dx-1)/pass.dx, (p.height-pass.y+pass.dy-1)/pass.dy); err != nil {
			return err
		}
	}
	return nil
}

// pixels is the stream that consecutive data chunks make up. It is read byte by
// byte, so that the file stands right behind the stream at its end.
type pixels pngFile

// ReadByte implements io.ByteReader.
func (x *pixels) ReadByte() (byte, error) {
	p := (*pngFile)(x)
	for p.left == 0 {
		if p.name != "IDAT" {
			return 0, io.ErrUnexpectedEOF
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	if p.name != "IDAT" {
		return 0, io.ErrUnexpectedEOF
	}
	b, err := p.r.ReadByte()
	if err != nil {
		return 0, err
	}
	p.one[0] = b
	p.crc.Write(p.one[:])
	p.left--
	return b, nil
}

// Read implements io.Reader.
func (x *pixels) Read(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		if b[n], err = x.ReadByte(); err == nil {
			n++
		}
	}
	return n, err
}
