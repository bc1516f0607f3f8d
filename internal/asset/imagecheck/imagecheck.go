// Package imagecheck tells whether an uploaded file is the PNG or JPEG image
// that it claims to be (api-v1.md, Assets; completions.md §3). A small file can
// claim a large image, so a check must not need the memory of the image: an image
// is decoded only when that is cheap. Of others, a PNG is verified while it streams
// by, and a JPEG by its structure.
package imagecheck

import (
	"errors"
	"fmt"
	"image"
	"io"
	"mime"
)

const (
	// MaxSize of a file in bytes.
	MaxSize = 1 << 20
	// MaxSide is the greatest width and height in pixels. An image of both has
	// the greatest number of pixels that is allowed, 16 Mpixel.
	MaxSide = 4096
)

// Image is what a file turned out to be.
type Image struct {
	// Format is png or jpeg.
	Format        string
	ContentType   string
	Width, Height int
	// Thumbnail is the image with at most MaxThumbnail pixels in width and height; nil
	// for one that takes much memory to decode.
	Thumbnail *image.NRGBA
}

// The codes of an Error.
const (
	// UnsupportedType is the code of a declared type that is no image's.
	UnsupportedType = "unsupported_type"
	// TypeMismatch is the code of a file that is not what it is declared to be.
	TypeMismatch = "type_mismatch"
	// TooLarge is the code of too many bytes or pixels.
	TooLarge = "too_large"
	// Undecodable is the code of a damaged or incomplete image.
	Undecodable = "undecodable"
)

// Error refuses a file. Its message is for the client.
type Error struct{ Code, Message string }

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// format is a kind of image that is let in.
type format struct {
	name, signature string
	// check reads a file that has the signature, and returns its dimensions and
	// thumbnail. Every error but one of reading the file is a fault of the image.
	check func(file *source) (Image, error)
}

var formats = map[string]format{
	"image/png":  {"png", pngSignature, checkPNG},
	"image/jpeg": {"jpeg", jpegSignature, checkJPEG},
}

// Check returns what the first size bytes of r are, or an *Error when they are
// not a whole image of the declared media type within the bounds. What follows
// the image, and metadata inside it, do not matter. Any other error is one of
// reading r.
func Check(r io.ReaderAt, size int64, declared string) (Image, error) {
	return checkWithin(r, size, declared, maxDecoding)
}

// checkWithin is Check, and decodes what takes at most so many bytes.
func checkWithin(r io.ReaderAt, size int64, declared string, decoding int) (Image, error) {
	kind, _, _ := mime.ParseMediaType(declared)
	f, ok := formats[kind]
	if !ok {
		return Image{}, &Error{UnsupportedType, "the file must be declared as image/png or image/jpeg"}
	}
	if size > MaxSize {
		return Image{}, &Error{TooLarge, fmt.Sprintf("the file is larger than %d bytes", MaxSize)}
	}
	file := &source{r: r, size: size, decoding: decoding}
	var found Image
	err := file.expect(f.signature)
	if err == nil {
		found, err = f.check(file)
	}
	var refused *Error
	switch {
	case file.err != nil:
		return Image{}, fmt.Errorf("read the image: %w", file.err)
	case errors.As(err, &refused):
		return Image{}, refused
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Image{}, &Error{Undecodable, "the image ends too early"}
	case err != nil:
		return Image{}, &Error{Undecodable, "the image cannot be decoded: " + err.Error()}
	}
	found.Format, found.ContentType = f.name, kind
	return found, nil
}

// checkDimensions refuses an image by what its header says.
func checkDimensions(width, height int) error {
	if width == 0 || height == 0 {
		return errors.New("it has no pixels")
	}
	if width > MaxSide || height > MaxSide {
		return &Error{TooLarge, fmt.Sprintf("the image is larger than %d by %d pixels", MaxSide, MaxSide)}
	}
	return nil
}

// source is a file that remembers that it could not be read, which says nothing
// of the image.
type source struct {
	r    io.ReaderAt
	size int64
	// decoding is how many bytes decoding may take.
	decoding int
	err      error
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(b []byte, offset int64) (int, error) {
	n, err := s.r.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// from returns what is in the file from an offset on.
func (s *source) from(offset int64) io.Reader { return io.NewSectionReader(s, offset, s.size-offset) }

// expect refuses a file that begins differently.
func (s *source) expect(signature string) error {
	start := make([]byte, len(signature))
	// A file that is too short, or cannot be read, is not the signature either.
	if n, _ := io.ReadFull(s.from(0), start); string(start[:n]) != signature {
		return &Error{TypeMismatch, "the file is not an image of its declared type"}
	}
	return nil
}
