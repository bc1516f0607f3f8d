// Package qr owns the QR codes of links: made on the spot for any link, or
// stored with a look of their own (completions.md §6, QR code). How a code is
// drawn is package qrimage's.
package qr

import (
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
)

// QRCode is a stored QR code.
type QRCode struct {
	ID     string `json:"id" format:"uuid"`
	AppID  string `json:"appId"`
	LinkID string `json:"linkId"`
	Name   string `json:"name"`
	Look
	LogoAssetID *string       `json:"logoAssetId"`
	Revision    string        `json:"revision" format:"uuid"`
	CreatedAt   clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt   clock.Instant `json:"updatedAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (QRCode) SchemaName() string { return "QrCode" }

// Look is how a code is drawn.
type Look struct {
	Format          string `json:"format" enum:"png,svg"`
	Size            int    `json:"size" doc:"Width and height in pixels."`
	Margin          int    `json:"margin" doc:"Quiet zone in modules."`
	Foreground      string `json:"foreground"`
	Background      string `json:"background" doc:"#RRGGBB or transparent."`
	ErrorCorrection string `json:"errorCorrection" enum:"L,M,Q,H"`
}

// standard is the look of a code that says nothing else.
var standard = Look{Format: "png", Size: 512, Margin: 4, Foreground: "#000000", Background: "#ffffff",
	ErrorCorrection: "M"}

// Position implements op.Positioned.
func (c QRCode) Position() cursor.Position { return cursor.Position{At: c.CreatedAt, ID: c.ID} }

func (c QRCode) ref() op.Ref {
	return op.Ref{Type: "qr_code", ID: c.ID, AppID: c.AppID, Revision: c.Revision}
}

// SetLook changes the members sent and keeps the others.
type SetLook struct {
	Format          opt.Opt[string] `json:"format,omitzero" enum:"png,svg" doc:"Default png."`
	Size            opt.Opt[int]    `json:"size,omitzero" minimum:"64" maximum:"2048" doc:"Width and height in pixels; default 512."`
	Margin          opt.Opt[int]    `json:"margin,omitzero" minimum:"0" maximum:"16" doc:"Quiet zone in modules; default 4."`
	Foreground      opt.Opt[string] `json:"foreground,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" doc:"Default #000000."`
	Background      opt.Opt[string] `json:"background,omitzero" pattern:"^(#[0-9A-Fa-f]{6}|transparent)$" doc:"Default #ffffff. The contrast must be at least 3:1; transparent counts as white."`
	ErrorCorrection opt.Opt[string] `json:"errorCorrection,omitzero" enum:"L,M,Q,H" doc:"Default M; with a logo at least Q."`
}

func (s *SetLook) apply(l *Look) {
	l.Format = s.Format.Or(l.Format)
	l.Size = s.Size.Or(l.Size)
	l.Margin = s.Margin.Or(l.Margin)
	l.Foreground = s.Foreground.Or(l.Foreground)
	l.Background = s.Background.Or(l.Background)
	l.ErrorCorrection = s.ErrorCorrection.Or(l.ErrorCorrection)
}

// forLogo raises the error correction to what a code with a logo needs.
func (l *Look) forLogo() {
	if l.ErrorCorrection == "L" || l.ErrorCorrection == "M" {
		l.ErrorCorrection = "Q"
	}
}
