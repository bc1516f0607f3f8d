package imagecheck

import (
	"bufio"
	"encoding/binary"
	"errors"
	"image/jpeg"
	"io"
)

const jpegSignature = "\xff\xd8\xff"

// The markers of JPEG that a usual image has.
const (
	sof0  = 0xc0 // a sequential frame
	sof1  = 0xc1 // an extended sequential frame
	sof2  = 0xc2 // a progressive frame
	dht   = 0xc4 // Huffman tables
	rst0  = 0xd0 // restarts, inside of scans
	rst7  = 0xd7
	eoi   = 0xd9 // the end
	sos   = 0xda // a scan
	dqt   = 0xdb // quantization tables
	dri   = 0xdd // how often restarts come
	app0  = 0xe0 // metadata of applications
	app14 = 0xee // Adobe's, which say how colours are stored
	app15 = 0xef
	com   = 0xfe // a comment
)

const (
	// maxScans bounds how often a decoder goes through the whole image: a scan
	// of a few bytes can refine all of a progressive one. Encoders make a dozen.
	maxScans = 100
)

// jpegFile is what the segments of a JPEG tell.
type jpegFile struct {
	r *bufio.Reader
	// What came so far.
	frames, huffman, quantization, scans int

	width, height int
	// samples is the number of values that the frame decodes to.
	samples     int
	progressive bool
	// converted says that a decoder may copy the pixels to another form.
	converted bool
}

// checkJPEG verifies the structure of every image and, if that takes little
// memory, decodes it. What is wrong inside the scans of a larger image is not
// found.
func checkJPEG(file *source) (found Image, err error) {
	j := &jpegFile{r: bufio.NewReader(file.from(2))}
	for more := true; more; {
		if more, err = j.segment(); err != nil {
			return found, err
		}
	}
	if j.scans == 0 {
		return found, errors.New("it has no scan")
	}
	found.Width, found.Height = j.width, j.height
	if cost := j.cost(); cost > file.decoding {
		_, err = jpeg.DecodeConfig(file.from(0))
	} else {
		found.Thumbnail, err = decode(file, cost, jpeg.Decode)
	}
	return found, err
}

// segment reads the next segment. more is false at the end of the image.
func (j *jpegFile) segment() (more bool, err error) {
	marker, err := j.marker()
	if err != nil || marker == eoi {
		return false, err
	}
	var b [2]byte
	if _, err := io.ReadFull(j.r, b[:]); err != nil {
		return false, err
	}
	length := int(binary.BigEndian.Uint16(b[:])) - len(b)
	if length < 0 {
		return false, errors.New("a segment has a wrong length")
	}
	switch {
	case marker == sof0, marker == sof1, marker == sof2:
		j.frames++
		j.progressive = marker == sof2
		return true, j.frame(length)
	case marker == dht:
		j.huffman++
	case marker == dqt:
		j.quantization++
	case marker == sos:
		j.scans++
		if j.frames == 0 || j.huffman == 0 || j.quantization == 0 {
			return false, errors.New("a scan comes before what it needs")
		}
		if j.scans > maxScans {
			return false, errors.New("it has too many scans")
		}
	case marker == app14:
		j.converted = true
	case marker >= app0 && marker <= app15, marker == com, marker == dri:
	default:
		return false, errors.New("it is of an unusual kind of JPEG")
	}
	_, err = j.r.Discard(length)
	return true, err
}

// marker skips what belongs to a scan or is superfluous, and returns the marker
// of the next segment.
func (j *jpegFile) marker() (marker byte, err error) {
	for {
		if _, err := j.r.ReadSlice(0xff); errors.Is(err, bufio.ErrBufferFull) {
			continue
		} else if err != nil {
			return 0, err
		}
		for marker = 0xff; marker == 0xff; {
			if marker, err = j.r.ReadByte(); err != nil {
				return 0, err
			}
		}
		if marker != 0 && (marker < rst0 || marker > rst7) {
			return marker, nil
		}
	}
}

// frame reads the header of the image.
func (j *jpegFile) frame(length int) error {
	const fixed, each = 6, 3
	b := make([]byte, length)
	if _, err := io.ReadFull(j.r, b); err != nil {
		return err
	}
	if j.frames > 1 || length < fixed {
		return errors.New("it has not one frame")
	}
	components := int(b[5])
	if b[0] != 8 || components != 1 && components != 3 && components != 4 || length != fixed+each*components {
		return errors.New("its frame has an unusual kind of pixels")
	}
	j.height, j.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if err := checkDimensions(j.width, j.height); err != nil {
		return err
	}
	// Each component has a width and height of its own, relative to the greatest.
	var names string
	blocks, widest, highest := 0, 1, 1
	for c := b[fixed:]; len(c) > 0; c = c[each:] {
		h, v := int(c[1]>>4), int(c[1]&15)
		if components == 1 {
			h, v = 1, 1
		}
		if h < 1 || h > 4 || v < 1 || v > 4 {
			return errors.New("its frame has an unusual sampling")
		}
		names += string(rune(c[0]))
		blocks, widest, highest = blocks+h*v, max(widest, h), max(highest, v)
	}
	across := pass{dx: 8 * widest, dy: 8 * highest}
	columns, rows := across.size(j.width, j.height)
	j.samples = columns * rows * blocks * 64
	j.converted = j.converted || components == 4 || names == "RGB"
	return nil
}

// cost returns the bytes that decoding takes, at most.
func (j *jpegFile) cost() int {
	bytes := j.samples
	if j.progressive {
		bytes += 4 * j.samples // the coefficients are kept to the end
	}
	if j.converted {
		bytes += 4 * j.width * j.height
	}
	return bytes
}
