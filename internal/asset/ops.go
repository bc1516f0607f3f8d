package asset

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/asset/imagecheck"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// service holds what the operations need besides the call.
type service struct {
	addresses Addresses
	blobs     blob.Store
}

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, addresses Addresses, blobs blob.Store) part.Part {
	h := &service{addresses, blobs}
	app := op.AppOf("assetId", appOf)
	op.List(p, op.Op{ID: "getAssets", Method: "GET", Path: "/assets", Perm: "assets:read", App: op.AppInQuery,
		Summary: "List uploaded images"}, h.list)
	op.Staged(p, op.Op{ID: "createAssets", Method: "POST", Path: "/assets", Perm: "assets:create", App: op.AppInBody,
		Budget: op.Uploads, Summary: "Upload an image", Doc: "PNG or JPEG, up to 1 MiB and 4096 by 4096 pixels; 4 GiB of " +
			"images for an account. It does not become a logo by itself."}, h.store, h.created)
	op.Read(p, op.Op{ID: "getAssetsAssetId", Method: "GET", Path: "/assets/{assetId}", Perm: "assets:read", App: app,
		Summary: "Get the details of an image"}, h.get)
	op.Staged(p, op.Op{ID: "deleteAssetsAssetId", Method: "DELETE", Path: "/assets/{assetId}", Perm: "assets:delete",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Delete an image",
		Doc: "An image that a logo, link, QR code or template shows stays: 409 with its dependencies."}, h.erase, h.removed)
	op.Read(p, op.Op{ID: "getAppsAppIdLogo", Method: "GET", Path: "/apps/{appId}/logo", Perm: "apps:read",
		App: op.AppInPath, Summary: "Get the logo of an app"}, h.logo)
	op.Write(p, op.Op{ID: "setAppsAppIdLogo", Method: "PUT", Path: "/apps/{appId}/logo", Perm: "apps:update",
		App: op.AppInPath, IfMatch: op.IfMatchRequired, Summary: "Set the logo of an app",
		Doc: "Under the app's revision."}, h.setLogo)
	op.Write(p, op.Op{ID: "deleteAppsAppIdLogo", Method: "DELETE", Path: "/apps/{appId}/logo", Perm: "apps:update",
		App: op.AppInPath, IfMatch: op.IfMatchRequired, ETag: true, Summary: "Remove the logo of an app",
		Doc: "Under the app's revision, whose new value is the ETag. The image stays. Without a logo nothing changes."},
		h.removeLogo)
	return part.Part{
		Name: "asset",
		Sweeps: []part.Sweep{
			{Name: "assets", Run: func(ctx context.Context, db *store.DB, limit int) (int64, error) {
				return Sweep(ctx, db, blobs, limit)
			}},
			{Name: "images without an icon", Run: func(ctx context.Context, db *store.DB, limit int) (int64, error) {
				return makeIcons(ctx, db, blobs, limit)
			}},
		},
		OfApp: part.OfApp{
			Tables: []string{"asset"},
			// The other images go with the app.
			Dependents: []dependents.Query{
				{Type: "asset", SQL: "SELECT id FROM asset WHERE app_id = ? AND state <> 'active'"},
			},
			Remove: leaveToSweep,
		},
	}
}

type listInput struct {
	AppID string `query:"appId" required:"true" maxLength:"500"`
	State string `query:"state" enum:"active,deleting" default:"active"`
}

func (s *service) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Asset, error) {
	var where store.Where
	state := in.State
	if state == "" {
		state = active
	}
	where.And("app_id = ? AND state = ?", in.AppID, state)
	order := w.Keyset(&where, "created_at", "id", true)
	return store.All(ctx, c.DB, s.scan, "SELECT "+columns+" FROM asset"+where.String()+order, where.Args(w.Limit)...)
}

type assetInput struct {
	AssetID string `path:"assetId"`
}

func (s *service) get(ctx context.Context, c *op.Call, in *assetInput) (op.Item[Asset], error) {
	a, err := s.load(ctx, c.DB, in.AssetID)
	return op.Item[Asset]{Data: a, Ref: a.ref()}, err
}

type uploadInput struct{ Upload op.Upload }

// store checks an image, reserves its record and stores its bytes.
func (s *service) store(ctx context.Context, c *op.Call, in *uploadInput) (a Asset, err error) {
	if s.addresses.Host == "" {
		return a, fault.New(fault.InsufficientPermission, "This installation has no hostname for images "+
			"(--assets-host).")
	}
	u := &in.Upload
	image, err := imagecheck.Check(u.File, u.Size, u.Type)
	if err != nil {
		var refused *imagecheck.Error
		if errors.As(err, &refused) {
			err = fault.Invalid("/file", fault.Reason(refused.Code), "%s", refused.Message)
		}
		return a, err
	}
	icon := iconOf(image.Thumbnail)
	err = c.InTx(ctx, func(tx *store.Tx) error {
		a, err = s.reserve(ctx, tx, c, u, image, icon)
		return err
	})
	if err != nil {
		return a, err
	}
	if _, err := u.File.Seek(0, 0); err != nil {
		return a, err
	}
	return a, Away(s.blobs.Put(ctx, a.object, a.ContentType, u.File, u.Size))
}

// Away makes a failure of the asset store one that the client may repeat.
func Away(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", fault.New(fault.Unavailable,
		"The asset store does not answer. The outcome may be uncertain; repeat the same request with the same key."),
		err)
}

func (s *service) created(ctx context.Context, _ *op.Call, tx *store.Tx, _ *uploadInput,
	a Asset) (op.Item[Asset], error) {
	err := s.activate(ctx, tx, &a)
	return op.Item[Asset]{Data: a, Ref: a.ref(), Location: op.Location("assets", a.ID)}, err
}

// erase reserves the removal of an asset and removes its bytes.
func (s *service) erase(ctx context.Context, c *op.Call, in *assetInput) (a Asset, err error) {
	err = c.InTx(ctx, func(tx *store.Tx) error {
		a, err = s.reserveRemoval(ctx, tx, c, in.AssetID)
		return err
	})
	if err != nil {
		return a, err
	}
	return a, Away(s.blobs.Delete(ctx, a.object))
}

func (s *service) removed(ctx context.Context, _ *op.Call, tx *store.Tx, _ *assetInput,
	a Asset) (op.Item[op.Nothing], error) {
	n, err := tx.Exec(ctx, "DELETE FROM asset WHERE id = ? AND state = 'deleting'", a.ID)
	if err == nil && n == 0 { // another removal was quicker
		err = fault.Missing()
	}
	return op.Removed(a.ref()), err
}
