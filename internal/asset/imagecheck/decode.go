package imagecheck

import (
	"image"
	"io"
	"runtime"
	"sync"

	"golang.org/x/image/draw"
)

const (
	// MaxThumbnail is the greatest width and height of a thumbnail in pixels.
	MaxThumbnail = 96
	// maxDecoding is how many bytes decoding may need.
	maxDecoding = 16 << 20
)

// decoding lets one image be decoded at a time, so that many need no more
// memory than one.
var decoding struct {
	sync.Mutex
	// garbage is how much memory earlier ones may have left behind.
	garbage int
}

// decode decodes an image that takes cost bytes, and returns a small one of it.
func decode(file *source, cost int, decoder func(io.Reader) (image.Image, error)) (*image.NRGBA, error) {
	decoding.Lock()
	defer decoding.Unlock()
	// The collector lets garbage grow to the size of all that is in use, which
	// in a large process is more than these images may take.
	if decoding.garbage += cost; decoding.garbage > maxDecoding {
		runtime.GC()
		decoding.garbage = cost
	}
	decoded, err := decoder(file.from(0))
	if err != nil {
		return nil, err
	}
	return thumbnail(decoded), nil
}

// thumbnail returns an image in its own proportions, of at most MaxThumbnail pixels
// in width and height. Of a large one it takes some pixels only, so that it takes as
// long for all.
func thumbnail(from image.Image) *image.NRGBA {
	const enough = 4 * MaxThumbnail
	if size := Fit(from.Bounds().Size(), enough); size != from.Bounds().Size() {
		some := image.NewNRGBA(image.Rectangle{Max: size})
		draw.NearestNeighbor.Scale(some, some.Rect, from, from.Bounds(), draw.Src, nil)
		from = some
	}
	to := image.NewNRGBA(image.Rectangle{Max: Fit(from.Bounds().Size(), MaxThumbnail)})
	draw.BiLinear.Scale(to, to.Rect, from, from.Bounds(), draw.Src, nil)
	return to
}

// Fit returns a size in the same proportions with neither side longer than longest.
func Fit(size image.Point, longest int) image.Point {
	if side := max(size.X, size.Y); side > longest {
		size = image.Pt(max(1, size.X*longest/side), max(1, size.Y*longest/side))
	}
	return size
}
