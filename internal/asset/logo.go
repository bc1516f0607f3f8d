package asset

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/app"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Logo is the image of an app.
type Logo struct {
	AppID    string  `json:"appId"`
	AssetID  *string `json:"assetId"`
	URL      *string `json:"url"`
	Revision string  `json:"revision" format:"uuid" doc:"The app's."`
}

// SchemaName implements schema.Named.
func (Logo) SchemaName() string { return "AppLogo" }

func (s *service) logoOf(ctx context.Context, q store.Q, a app.App) (op.Item[Logo], error) {
	l := Logo{AppID: a.ID, AssetID: a.LogoAssetID, Revision: a.Revision}
	if a.LogoAssetID != nil {
		object, err := Object(ctx, q, a.ID, *a.LogoAssetID)
		if errors.Is(err, store.ErrNotFound) { // removed since the app was read
			err = fault.Missing()
		}
		if err != nil {
			return op.Item[Logo]{}, err
		}
		url := s.addresses.URL(object)
		l.URL = &url
	}
	return op.Item[Logo]{Data: l, Ref: a.Ref()}, nil
}

type logoInput struct {
	AppID string `path:"appId" maxLength:"500"`
}

func (s *service) logo(ctx context.Context, c *op.Call, in *logoInput) (op.Item[Logo], error) {
	a, err := app.Load(ctx, c.DB, in.AppID)
	if err != nil {
		return op.Item[Logo]{}, err
	}
	return s.logoOf(ctx, c.DB, a)
}

// SetLogo is the body of setAppsAppIdLogo.
type SetLogo struct {
	AssetID string `json:"assetId" minLength:"1" maxLength:"100" doc:"An active image of the same app."`
}

// SchemaName implements schema.Named.
func (SetLogo) SchemaName() string { return "AppLogoInput" }

type setLogoInput struct {
	AppID string `path:"appId" maxLength:"500"`
	Body  SetLogo
}

func (s *service) setLogo(ctx context.Context, c *op.Call, tx *store.Tx, in *setLogoInput) (op.Item[Logo], error) {
	a, err := app.Current(ctx, c, tx, in.AppID)
	if err != nil {
		return op.Item[Logo]{}, err
	}
	if _, err := Object(ctx, tx, a.ID, in.Body.AssetID); errors.Is(err, store.ErrNotFound) {
		return op.Item[Logo]{}, fault.UnknownReference("/assetId")
	} else if err != nil {
		return op.Item[Logo]{}, err
	}
	if err := app.SetLogo(ctx, tx, &a, &in.Body.AssetID); err != nil {
		return op.Item[Logo]{}, err
	}
	return s.logoOf(ctx, tx, a)
}

func (s *service) removeLogo(ctx context.Context, c *op.Call, tx *store.Tx,
	in *logoInput) (op.Item[op.Nothing], error) {
	a, err := app.Current(ctx, c, tx, in.AppID)
	if err == nil && a.LogoAssetID != nil {
		err = app.SetLogo(ctx, tx, &a, nil)
	}
	return op.Item[op.Nothing]{Ref: a.Ref(), ETag: a.Revision}, err
}
