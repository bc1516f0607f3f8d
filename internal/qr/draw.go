package qr

import (
	"context"
	"errors"
	"image"
	_ "image/jpeg" // logos
	_ "image/png"  // logos

	"github.com/maypok86/otter/v2"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/qr/qrimage"
	"github.com/waymarkhq/waymark/internal/turns"
)

// maxLogo bounds what a logo takes when it is decoded; at the size of a code
// nobody sees more.
const maxLogo = 1024

// maxDrawn bounds the pictures that are kept, in bytes.
const maxDrawn = 16 << 20

// picture is all that a drawing depends on.
type picture struct {
	Look
	address string
	logo    string // the object of its bytes; "" for none
}

// drawer draws codes and keeps what it drew last.
type drawer struct {
	blobs blob.Store
	// drawing has the places that heavy reads have, as a code with a logo takes 100 ms and
	// some 20 MiB while it is drawn. How many wait is bounded by the room of their answers.
	drawing chan struct{}
	drawn   *otter.Cache[picture, []byte]
}

func newDrawer(blobs blob.Store) *drawer {
	return &drawer{blobs, make(chan struct{}, turns.Workers()),
		otter.Must(&otter.Options[picture, []byte]{
			MaximumWeight: maxDrawn,
			Weigher: func(p picture, content []byte) uint32 {
				return uint32(len(p.address) + len(p.logo) + len(content) + 200)
			},
		})}
}

// draw returns the drawing of a picture. A refusal names the member of
// the request after at, which is "/" for a body and "query." for a query.
func (d *drawer) draw(ctx context.Context, at string, p picture) (op.File, error) {
	file := op.File{Name: "qr-code." + p.Format, ContentType: "image/png"}
	if p.Format == "svg" {
		file.ContentType = "image/svg+xml"
	}
	var drawn bool
	if file.Content, drawn = d.drawn.GetIfPresent(p); drawn {
		return file, nil
	}
	select {
	case d.drawing <- struct{}{}:
		defer func() { <-d.drawing }()
	case <-ctx.Done():
		return file, ctx.Err()
	}
	var err error
	if file.Content, err = d.content(ctx, p); err == nil {
		d.drawn.Set(p, file.Content)
	}
	return file, refusal(at, err)
}

// content draws a picture.
func (d *drawer) content(ctx context.Context, p picture) (content []byte, err error) {
	options := p.options()
	if p.logo != "" {
		if options.Logo, err = d.logo(ctx, p.logo); err != nil {
			return nil, err
		}
	}
	if p.Format == "svg" {
		return qrimage.SVG(p.address, options)
	}
	return qrimage.PNG(p.address, options)
}

// fits refuses a look in which address cannot be drawn.
func (l Look) fits(address string) error { return refusal("/", qrimage.Fits(address, l.options())) }

func (l Look) options() qrimage.Options {
	foreground, _ := qrimage.ParseColor(l.Foreground)
	background, _ := qrimage.ParseColor(l.Background)
	return qrimage.Options{Size: l.Size, Margin: l.Margin, Foreground: foreground, Background: background,
		Level: qrimage.Level(l.ErrorCorrection)}
}

func refusal(at string, err error) error {
	var refused *qrimage.Error
	if errors.As(err, &refused) {
		return fault.Invalid(at+member(refused.Option), fault.ReasonUnreadable, "%s", refused.Message)
	}
	return err
}

// member is what a client calls an option.
func member(option string) string {
	switch option {
	case "logo":
		return "logoAssetId"
	case "text": // fits only at a lower level
		return "errorCorrection"
	}
	return option
}

// logo returns the image of an object.
func (d *drawer) logo(ctx context.Context, object string) (_ image.Image, err error) {
	defer fault.Wrap(&err, "logo %s of a QR code", object)
	bytes, err := d.blobs.Open(ctx, object)
	if err != nil {
		return nil, asset.Away(err)
	}
	defer bytes.Close()
	logo, _, err := image.Decode(bytes)
	return logo, err
}
