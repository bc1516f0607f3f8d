// Package imagecheck tells whether a file is the PNG or JPEG image that it is
// said to be, whole and of a bounded size (completions.md §3, Assets).
//
// An image of a few KiB can claim pixels that take hundreds of MiB when they are
// decoded. So the size is read from the header before anything else, and then
// the file is checked without making its pixels: a PNG is read as a stream to
// its end, with all its checksums. The coded data of a JPEG can only be checked
// by decoding it, which is done where that takes little memory, one image at a
// time; of a bigger one the structure is checked from the first marker to the
// last.
package imagecheck

import (
	"bufio"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"mime"
)

// Bounds of an image.
const (
	MaxSide   = 4096
	MaxPixels = 16 << 20
)

// Image is what a file turned out to be.
type Image struct {
	ContentType   string // image/png or image/jpeg
	Width, Height int
}

// Error is a refusal. Code is unsupported_type, type_mismatch, too_large or
// undecodable; the message is for the client.
type Error struct{ Code, Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func undecodable(format string, args ...any) error {
	return &Error{"undecodable", "The image cannot be decoded: " + fmt.Sprintf(format, args...) + "."}
}

var errTruncated = undecodable("it ends too early")

const pngSignature = "\x89PNG\r\n\x1a\n"

// Check reads a file of which a client declares the media type. A refusal is an
// *Error; other errors are those of reading it.
func Check(r io.ReaderAt, size int64, declared string) (Image, error) {
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || kind != "image/png" && kind != "image/jpeg" {
		return Image{}, &Error{"unsupported_type", "The file must be declared as image/png or image/jpeg."}
	}
	head := make([]byte, len(pngSignature))
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return Image{}, err
	}
	head = head[:n]
	found := ""
	switch {
	case string(head) == pngSignature:
		found = "image/png"
	case n >= 3 && head[0] == 0xff && head[1] == markerSOI && head[2] == 0xff:
		found = "image/jpeg"
	}
	if found != kind {
		return Image{}, &Error{"type_mismatch", "The bytes of the file are not those of the declared type."}
	}
	image := Image{ContentType: kind}
	file := func() *bufio.Reader { return bufio.NewReader(io.NewSectionReader(r, 0, size)) }
	if kind == "image/png" {
		image.Width, image.Height, err = checkPNG(file())
	} else {
		var cost int
		image.Width, image.Height, cost, err = checkJPEG(file())
		if err == nil && cost <= maxDecoded {
			err = decodeJPEG(file())
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errTruncated
	}
	return image, err
}

// checkBounds refuses an image before any of its pixels are looked at.
func checkBounds(width, height int) error {
	switch {
	case width == 0 || height == 0:
		return undecodable("it has no pixels")
	case width > MaxSide || height > MaxSide || width*height > MaxPixels:
		return &Error{"too_large", fmt.Sprintf("The image has %d by %d pixels, more than %d on a side.", width, height, MaxSide)}
	}
	return nil
}

// maxDecoded bounds the memory of a JPEG that is decoded to be checked.
const maxDecoded = 16 << 20

// decoding has room for one: images that are checked at once must not add up.
var decoding = make(chan struct{}, 1)

func decodeJPEG(r io.Reader) error {
	decoding <- struct{}{}
	defer func() { <-decoding }()
	_, err := jpeg.Decode(r)
	var format jpeg.FormatError
	var unsupported jpeg.UnsupportedError
	if errors.As(err, &format) || errors.As(err, &unsupported) {
		return undecodable("its data is damaged or of an unusual kind")
	}
	return err
}
