package qr

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// service holds what the operations need besides the call.
type service struct {
	addresses link.Addresses
	drawer    *drawer
}

// types are those that answers in bytes have.
var types = []string{"image/png", "image/svg+xml"}

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, addresses link.Addresses, blobs blob.Store) part.Part {
	h := &service{addresses, newDrawer(blobs)}
	app := op.AppOf("qrId", appOf)
	op.Bytes(p, op.Op{ID: "getLinksLinkIdQr", Method: "GET", Path: "/links/{linkId}/qr", Perm: "qr_codes:read",
		App: op.AppOf("linkId", link.AppOf), Summary: "Generate a QR code for a link",
		Doc: "It holds the link's address and a mark by which visits count as scans."}, types, h.draw)
	op.List(p, op.Op{ID: "getQrCodes", Method: "GET", Path: "/qr-codes", Perm: "qr_codes:read", App: op.AppInQuery,
		Summary: "List saved QR codes"}, list)
	op.Write(p, op.Op{ID: "createQrCodes", Method: "POST", Path: "/qr-codes", Perm: "qr_codes:create",
		App: op.AppInBody, Summary: "Save a QR code for a link", Doc: "While it is stored its link cannot be deleted."},
		h.create)
	op.Read(p, op.Op{ID: "getQrCodesQrId", Method: "GET", Path: "/qr-codes/{qrId}", Perm: "qr_codes:read", App: app,
		Summary: "Get a saved QR code"}, get)
	op.Write(p, op.Op{ID: "updateQrCodesQrId", Method: "PATCH", Path: "/qr-codes/{qrId}", Perm: "qr_codes:update",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Update a saved QR code",
		Doc: "Only the fields sent change; null takes the logo away."}, h.update)
	op.Write(p, op.Op{ID: "deleteQrCodesQrId", Method: "DELETE", Path: "/qr-codes/{qrId}", Perm: "qr_codes:delete",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a saved QR code",
		Doc: "What was printed goes on working."}, remove)
	op.Bytes(p, op.Op{ID: "getQrCodesQrIdDownload", Method: "GET", Path: "/qr-codes/{qrId}/download",
		Perm: "qr_codes:read", App: app, Summary: "Download a saved QR code"}, types, h.download)
	// Their links, which they keep from being deleted, stand in the way of the app.
	return part.Part{Name: "qr", OfApp: part.OfApp{Tables: []string{"qr_code"}}}
}

type drawInput struct {
	LinkID          string `path:"linkId"`
	Format          string `query:"format" enum:"png,svg" doc:"Default png."`
	Size            int    `query:"size" minimum:"64" maximum:"2048" doc:"Width and height in pixels; default 512."`
	Margin          *int   `query:"margin" minimum:"0" maximum:"16" doc:"Quiet zone in modules; default 4."`
	Foreground      string `query:"foreground" pattern:"^#[0-9A-Fa-f]{6}$" doc:"Default #000000."`
	Background      string `query:"background" pattern:"^(#[0-9A-Fa-f]{6}|transparent)$" doc:"Default #ffffff. The contrast must be at least 3:1; transparent counts as white."`
	ErrorCorrection string `query:"errorCorrection" enum:"L,M,Q,H" doc:"Default M."`
}

func (in *drawInput) look() Look {
	l, given := standard, func(v string, into *string) {
		if v != "" {
			*into = v
		}
	}
	given(in.Format, &l.Format)
	given(in.Foreground, &l.Foreground)
	given(in.Background, &l.Background)
	given(in.ErrorCorrection, &l.ErrorCorrection)
	if in.Size != 0 {
		l.Size = in.Size
	}
	if in.Margin != nil {
		l.Margin = *in.Margin
	}
	return l
}

func (s *service) draw(ctx context.Context, c *op.Call, in *drawInput) (op.File, error) {
	address, err := s.addressOf(ctx, c.DB, in.LinkID)
	if err != nil {
		return op.File{}, err
	}
	file, err := s.drawer.draw(ctx, "query.", picture{Look: in.look(), address: address})
	file.Ref = op.Ref{Type: "link", ID: in.LinkID, AppID: c.AppID}
	return file, err
}

// CreateQRCode is the body of createQrCodes.
type CreateQRCode struct {
	AppID  string    `json:"appId" minLength:"1" maxLength:"500"`
	LinkID string    `json:"linkId" minLength:"1" maxLength:"500" doc:"A link of the same app."`
	Name   text.Line `json:"name" maxLength:"100"`
	SetLook
	LogoAssetID opt.Null[string] `json:"logoAssetId,omitzero" maxLength:"100" doc:"An active image of the same app, of at most 1024 by 1024 pixels."`
}

// SchemaName implements schema.Named.
func (CreateQRCode) SchemaName() string { return "QrCodeCreate" }

func (s *service) create(ctx context.Context, _ *op.Call, tx *store.Tx,
	in *struct{ Body CreateQRCode }) (op.Item[QRCode], error) {
	c := QRCode{Name: string(in.Body.Name), AppID: in.Body.AppID, LinkID: in.Body.LinkID, Look: standard,
		LogoAssetID: in.Body.LogoAssetID.Ptr()}
	in.Body.SetLook.apply(&c.Look)
	if owner, err := link.AppOf(ctx, tx, c.LinkID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return op.Item[QRCode]{}, err
	} else if owner != c.AppID {
		return op.Item[QRCode]{}, fault.UnknownReference("/linkId")
	}
	err := s.check(ctx, tx, &c)
	if err == nil {
		err = insert(ctx, tx, &c)
	}
	return op.Item[QRCode]{Data: c, Ref: c.ref(), Location: op.Location("qr-codes", c.ID)}, err
}

type qrInput struct {
	QRID string `path:"qrId"`
}

func get(ctx context.Context, c *op.Call, in *qrInput) (op.Item[QRCode], error) {
	v, err := load(ctx, c.DB, in.QRID)
	return op.Item[QRCode]{Data: v, Ref: v.ref()}, err
}

// current loads a code for a change under the revision that the client knows.
func current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (QRCode, error) {
	v, err := load(ctx, tx, id)
	if err == nil && c.Stale(v.Revision) {
		err = fault.Stale()
	}
	return v, err
}

// UpdateQRCode is the body of updateQrCodesQrId.
type UpdateQRCode struct {
	Name opt.Opt[text.Line] `json:"name,omitzero" maxLength:"100" example:"Summer sale"`
	SetLook
	LogoAssetID opt.Null[string] `json:"logoAssetId,omitzero" maxLength:"100"`
}

// SchemaName implements schema.Named.
func (UpdateQRCode) SchemaName() string { return "QrCodePatch" }

type updateInput struct {
	QRID string `path:"qrId"`
	Body UpdateQRCode
}

func (s *service) update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[QRCode], error) {
	v, err := current(ctx, c, tx, in.QRID)
	if err != nil {
		return op.Item[QRCode]{}, err
	}
	v.Name = string(in.Body.Name.Or(text.Line(v.Name)))
	in.Body.SetLook.apply(&v.Look)
	in.Body.LogoAssetID.Apply(&v.LogoAssetID)
	if err = s.check(ctx, tx, &v); err == nil {
		err = save(ctx, tx, &v)
	}
	return op.Item[QRCode]{Data: v, Ref: v.ref()}, err
}

// check refuses a code that could not be drawn, as far as can be told without
// the bytes of its logo.
func (s *service) check(ctx context.Context, tx *store.Tx, c *QRCode) error {
	if c.LogoAssetID != nil {
		width, height, err := asset.Size(ctx, tx, c.AppID, *c.LogoAssetID)
		if errors.Is(err, store.ErrNotFound) {
			return fault.UnknownReference("/logoAssetId")
		}
		if err != nil {
			return err
		}
		if width > maxLogo || height > maxLogo {
			return fault.Invalid("/logoAssetId", fault.ReasonTooLarge,
				"a logo must have at most %d by %d pixels; upload a smaller image", maxLogo, maxLogo)
		}
		c.Look.forLogo()
	}
	address, err := s.addressOf(ctx, tx, c.LinkID)
	if err != nil {
		return err
	}
	return c.Look.fits(address)
}

func remove(ctx context.Context, c *op.Call, tx *store.Tx, in *qrInput) (op.Item[op.Nothing], error) {
	v, err := current(ctx, c, tx, in.QRID)
	if err == nil {
		_, err = tx.Exec(ctx, "DELETE FROM qr_code WHERE id = ?", v.ID)
	}
	return op.Removed(v.ref()), err
}

type downloadInput struct {
	QRID   string `path:"qrId"`
	Format string `query:"format" enum:"png,svg" doc:"Default: the stored one."`
}

func (s *service) download(ctx context.Context, c *op.Call, in *downloadInput) (op.File, error) {
	v, err := load(ctx, c.DB, in.QRID)
	if err != nil {
		return op.File{}, err
	}
	address, err := s.addressOf(ctx, c.DB, v.LinkID)
	if err != nil {
		return op.File{}, err
	}
	if in.Format != "" {
		v.Format = in.Format
	}
	p := picture{Look: v.Look, address: address}
	if v.LogoAssetID != nil {
		p.logo, err = asset.Object(ctx, c.DB, v.AppID, *v.LogoAssetID)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // removed since the code was read
			return op.File{}, err
		}
	}
	file, err := s.drawer.draw(ctx, "query.", p)
	file.Ref = v.ref()
	return file, err
}
