package qr

import (
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // logos
	_ "image/png"  // logos
	"runtime"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/qr/qrimage"
	"github.com/waymarkhq/waymark/internal/store"
)

// maxLogo bounds what a logo takes when it is decoded; at the size of a code
// nobody sees more.
const maxLogo = 1024

// drawing has a place for each processor: a code with a logo takes some 20 MiB
// while it is drawn, and more at once would not be done sooner.
var drawing = make(chan struct{}, runtime.GOMAXPROCS(0))

// draw draws a code that holds address, with the logo that the function gives;
// nil is none. A refusal names the member of the request after at, which is "/"
// for a body and "query." for a query.
func (l Look) draw(ctx context.Context, at, address string, logo func() (image.Image, error)) (op.File, error) {
	select {
	case drawing <- struct{}{}:
		defer func() { <-drawing }()
	case <-ctx.Done():
		return op.File{}, ctx.Err()
	}
	options := l.options()
	file := op.File{Name: "qr-code." + l.Format, ContentType: "image/png"}
	var err error
	if logo != nil {
		if options.Logo, err = logo(); err != nil {
			return file, err
		}
	}
	if l.Format == "svg" {
		file.ContentType = "image/svg+xml"
		file.Content, err = qrimage.SVG(address, options)
	} else {
		file.Content, err = qrimage.PNG(address, options)
	}
	return file, refusal(at, err)
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

// logo returns the image in the middle of a stored code, nil for none.
func (s *service) logo(ctx context.Context, q store.Q, c *QRCode) (image.Image, error) {
	if c.LogoAssetID == nil {
		return nil, nil
	}
	object, err := asset.Object(ctx, q, c.AppID, *c.LogoAssetID)
	if errors.Is(err, store.ErrNotFound) { // removed since the code was read
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("logo of QR code %s: %w", c.ID, err)
	}
	bytes, err := s.blobs.Open(ctx, object)
	if err != nil {
		return nil, asset.Away(err)
	}
	defer bytes.Close()
	logo, _, err := image.Decode(bytes)
	if err != nil {
		return nil, fmt.Errorf("logo of QR code %s: %w", c.ID, err)
	}
	return logo, nil
}
