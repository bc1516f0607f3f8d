package template

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// Project makes a version of a template of an app available to the redirector, if
// it is not yet. What names the version must be published after tx. For an app that
// has no such version the error is store.ErrNotFound.
func Project(ctx context.Context, tx *store.Tx, appID, id string, version int64) (err error) {
	defer fault.Wrap(&err, "template.Project(%s, %s, %d)", appID, id, version)
	v, err := FindVersion(ctx, tx, id, version)
	if err != nil {
		return err
	}
	if v.AppID != appID {
		return store.ErrNotFound
	}
	document := route.TemplateVersion{AppID: v.AppID, Base: v.BaseTemplateID, Config: v.Config}
	if logo := logoOf(v.Config); logo != nil {
		icon, err := asset.Icon(ctx, tx, appID, *logo)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if icon != nil {
			document.Logo = *icon
		}
	}
	return route.PutTemplate(ctx, tx, id, version, document)
}

// IsAvailable reports whether the redirector has a version of a template.
func IsAvailable(ctx context.Context, q store.Q, id string, version int64) (_ bool, err error) {
	defer fault.Wrap(&err, "template.IsAvailable(%s, %d)", id, version)
	return store.Exists(ctx, q, "SELECT 1 FROM route_template WHERE template_id = ? AND version = ?", id, version)
}
