package app

import (
	"context"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

const columns = `id, name, default_domain, desktop_url, play_store_url, app_store_url, scheme, android_package, ios_bundle_id,
	ios_team_id, logo_asset_id, revision, created_at, updated_at`

func scan(r store.Row) (a App, err error) {
	err = r.Scan(&a.ID, &a.Name, &a.DefaultDomain, &a.DesktopURL, &a.PlayStoreURL, &a.AppStoreURL, &a.Scheme,
		&a.AndroidPackage, &a.IOSBundleID,
		&a.IOSTeamID, &a.LogoAssetID, &a.Revision, &a.CreatedAt, &a.UpdatedAt)
	return a, err
}

// Load returns an app that the pipeline found in the caller's reach.
func Load(ctx context.Context, q store.Q, id string) (_ App, err error) {
	defer fault.Wrap(&err, "app.Load(%s)", id)
	return op.Found(store.One(ctx, q, scan, "SELECT "+columns+" FROM app WHERE id = ?", id))
}

// list returns apps of the caller whose names contain search, ignoring case.
func list(ctx context.Context, c *op.Call, search string, w op.Window) ([]App, error) {
	var where store.Where
	where.And("owner_id = ?", c.Actor.OwnerID)
	if c.Actor.Type == actor.APIKey {
		var args []any
		for _, id := range c.Actor.AppIDs {
			args = append(args, id)
		}
		where.And("id IN ("+store.Marks(len(args))+")", args...)
	}
	if search != "" {
		where.And(c.DB.Dialect().Contains("search"), text.Fold(search))
	}
	chosen := w.Choose("app", &where, "created_at", "id", true)
	return store.All(ctx, c.DB, scan, "SELECT "+columns+" FROM app"+chosen, where.Args(w.Limit)...)
}

func insert(ctx context.Context, tx *store.Tx, ownerID string, a *App) error {
	a.ID, a.Revision, a.CreatedAt, a.UpdatedAt = ids.App(), ids.Revision(), tx.Now, tx.Now
	_, err := tx.Exec(ctx, `INSERT INTO app (owner_id, search, `+columns+`) VALUES (`+store.Marks(16)+`)`,
		ownerID, text.Fold(a.Name), a.ID, a.Name, a.DefaultDomain, a.DesktopURL, a.PlayStoreURL, a.AppStoreURL,
		a.Scheme, a.AndroidPackage,
		a.IOSBundleID, a.IOSTeamID, a.LogoAssetID, a.Revision, a.CreatedAt, a.UpdatedAt)
	return err
}

// save stores a changed app, and has what visitors see of it published.
func save(ctx context.Context, tx *store.Tx, before, a *App) error {
	a.Revision, a.UpdatedAt = ids.Revision(), tx.Now
	if _, err := tx.Exec(ctx, `UPDATE app SET name = ?, search = ?, default_domain = ?, desktop_url = ?, play_store_url =
		?, app_store_url = ?,
		scheme = ?, android_package = ?, ios_bundle_id = ?, ios_team_id = ?, revision = ?, updated_at = ? WHERE id = ?`,
		a.Name, text.Fold(a.Name), a.DefaultDomain, a.DesktopURL, a.PlayStoreURL, a.AppStoreURL,
		a.Scheme, a.AndroidPackage, a.IOSBundleID, a.IOSTeamID, a.Revision, a.UpdatedAt, a.ID); err != nil {
		return err
	}
	if a.shown() == before.shown() {
		return nil
	}
	return domain.AppChanged(ctx, tx, a.ID, a.iosApp() != before.iosApp())
}

// SetLogo makes an image the logo of an app, or none, under a new revision, and has
// it published if it is another one.
func SetLogo(ctx context.Context, tx *store.Tx, a *App, assetID *string) (err error) {
	defer fault.Wrap(&err, "app.SetLogo(%s)", a.ID)
	before := a.LogoAssetID
	a.LogoAssetID, a.Revision, a.UpdatedAt = assetID, ids.Revision(), tx.Now
	if _, err := tx.Exec(ctx, "UPDATE app SET logo_asset_id = ?, revision = ?, updated_at = ? WHERE id = ?", assetID,
		a.Revision, a.UpdatedAt, a.ID); err != nil {
		return err
	}
	if before != nil && assetID != nil && *before == *assetID {
		return nil
	}
	return domain.AppChanged(ctx, tx, a.ID, false)
}

// checkDefaultDomain refuses a domain that is not one of the app or not ready.
func checkDefaultDomain(ctx context.Context, q store.Q, a *App) error {
	if a.DefaultDomain == nil {
		return nil
	}
	found, err := domain.Ready(ctx, q, a.ID, *a.DefaultDomain)
	if err == nil && !found {
		err = unknownDomain()
	}
	return err
}
