package qr

import (
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // logos
	_ "image/png"  // logos

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/qrimage"
	"github.com/waymarkhq/waymark/internal/store"
)

// maxLogo bounds what a logo takes when it is decoded; at the size of a code
// nobody sees more.
const maxLogo = 1024

// draw draws a code that holds address. A refusal names the member of the
// request after at, which is "/" for a body and "query." for a query.
func (l Look) draw(at, address string, logo image.Image) (op.File, error) {
	foreground, _ := qrimage.ParseColor(l.Foreground)
	background, _ := qrimage.ParseColor(l.Background)
	options := qrimage.Options{
		Size: l.Size, Margin: l.Margin, Foreground: foreground, Background: background, Level: qrimage.Level(l.ErrorCorrection), Logo: logo,
	}
	file := op.File{Name: "qr-code." + l.Format, ContentType: "image/png"}
	var err error
	if l.Format == "svg" {
		file.ContentType = "image/svg+xml"
		file.Content, err = qrimage.SVG(address, options)
	} else {
		file.Content, err = qrimage.PNG(address, options)
	}
	var refused *qrimage.Error
	if errors.As(err, &refused) {
		err = fault.Invalid(at+member(refused.Option), "unreadable", "%s", refused.Message)
	}
	return file, err
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
	if err == store.ErrNotFound { // removed since the code was read
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
