package asset

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/waymarkhq/waymark/internal/asset/imagecheck"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

const columns = "id, app_id, object, content_type, byte_size, sha256, width, height, state, revision, created_at, " +
	"updated_at"

func (s *service) scan(r store.Row) (a Asset, err error) {
	err = r.Scan(&a.ID, &a.AppID, &a.object, &a.ContentType, &a.ByteSize, &a.SHA256, &a.Width, &a.Height, &a.State,
		&a.Revision, &a.CreatedAt, &a.UpdatedAt)
	a.URL = s.addresses.URL(a.object)
	return a, err
}

// load returns an asset, or the refusal of a missing one.
func (s *service) load(ctx context.Context, q store.Q, id string) (Asset, error) {
	return op.Found(store.One(ctx, q, s.scan, "SELECT "+columns+" FROM asset WHERE id = ? AND state <> 'storing'", id))
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM asset WHERE id = ? AND state <> 'storing'", id)
}

// Find returns the id of the active asset of an app that has an object, or
// store.ErrNotFound.
func Find(ctx context.Context, q store.Q, appID, object string) (id string, err error) {
	defer fault.Wrap(&err, "asset.Find(%s)", appID)
	return store.One(ctx, q, store.Value[string], `SELECT id FROM asset WHERE object = ? AND app_id = ?
		AND state = 'active'`, object, appID)
}

// Object returns the name of the bytes of an active asset of an app, or
// store.ErrNotFound.
func Object(ctx context.Context, q store.Q, appID, id string) (object string, err error) {
	defer fault.Wrap(&err, "asset.Object(%s, %s)", appID, id)
	return store.One(ctx, q, store.Value[string], `SELECT object FROM asset WHERE id = ? AND app_id = ?
		AND state = 'active'`, id, appID)
}

// Size returns width and height in pixels of an active asset of an app, or
// store.ErrNotFound.
func Size(ctx context.Context, q store.Q, appID, id string) (width, height int64, err error) {
	defer fault.Wrap(&err, "asset.Size(%s, %s)", appID, id)
	size, err := store.One(ctx, q, func(r store.Row) (size [2]int64, err error) {
		err = r.Scan(&size[0], &size[1])
		return size, err
	}, "SELECT width, height FROM asset WHERE id = ? AND app_id = ? AND state = 'active'", id, appID)
	return size[0], size[1], err
}

// extensions name the objects by what they are.
var extensions = map[string]string{"image/png": ".png", "image/jpeg": ".jpg"}

// reserve returns the record of an upload that is about to be stored: that of
// an earlier attempt at the same intent, or a new one.
func (s *service) reserve(ctx context.Context, tx *store.Tx, c *op.Call, u *op.Upload,
	image imagecheck.Image, icon string) (Asset, error) {
	a, err := store.One(ctx, tx, s.scan, "SELECT "+columns+" FROM asset WHERE credential = ? AND intent_key = ? AND "+
		"state = 'storing' AND app_id = ? AND sha256 = ? AND content_type = ? LIMIT 1",
		c.Actor.Credential, c.Intent, u.AppID, u.SHA256, image.ContentType)
	if err == nil {
		// Begun anew, so that no sweep takes it away now.
		_, err = tx.Exec(ctx, "UPDATE asset SET updated_at = ? WHERE id = ?", tx.Now, a.ID)
		return a, err
	}
	if !errors.Is(err, store.ErrNotFound) {
		return a, err
	}
	if err := checkRoom(ctx, tx, c, u.Size); err != nil {
		return a, err
	}
	random := make([]byte, 16)
	rand.Read(random)
	a = Asset{
		ID: ids.New(), AppID: u.AppID, ContentType: image.ContentType, ByteSize: u.Size, SHA256: u.SHA256,
		Width: int64(image.Width), Height: int64(image.Height),
		State: storing, Revision: ids.Revision(), CreatedAt: tx.Now, UpdatedAt: tx.Now,
		object: hex.EncodeToString(random) + extensions[image.ContentType],
	}
	_, err = tx.Exec(ctx, "INSERT INTO asset ("+columns+", credential, intent_key, icon) VALUES ("+store.Marks(15)+")",
		a.ID, a.AppID, a.object, a.ContentType, a.ByteSize, a.SHA256, a.Width, a.Height, a.State, a.Revision,
		a.CreatedAt, a.UpdatedAt, c.Actor.Credential, c.Intent, icon)
	return a, err
}

// accountBytes is how much the images of an account may take, in all of its apps.
const accountBytes = 4 << 30

// checkRoom refuses an image of some bytes that the account has no room for.
func checkRoom(ctx context.Context, tx *store.Tx, c *op.Call, bytes int64) error {
	taken, err := store.One(ctx, tx, store.Value[int64], "SELECT CAST(COALESCE(SUM(byte_size), 0) AS BIGINT) FROM asset "+
		"WHERE app_id IN (SELECT id FROM app WHERE owner_id = ?)", c.Actor.OwnerID)
	if err == nil && taken+bytes > c.Scaled(accountBytes) {
		err = fault.New(fault.ResourceConflict, "The images of this account take %d MiB of the %d MiB that they may. "+
			"Delete images that nothing shows, then upload this one.", taken>>20, c.Scaled(accountBytes)>>20)
	}
	return err
}

// activate shows a stored asset, or reports that a sweep took it away.
func (s *service) activate(ctx context.Context, tx *store.Tx, a *Asset) error {
	a.State, a.CreatedAt, a.UpdatedAt = active, tx.Now, tx.Now
	n, err := tx.Exec(ctx, `UPDATE asset SET state = 'active', created_at = ?, updated_at = ? WHERE id = ?
		AND state = 'storing'`, a.CreatedAt, a.UpdatedAt, a.ID)
	if err == nil && n == 0 {
		err = fault.New(fault.Unavailable, "The upload took too long. Repeat it with the same key.")
	}
	a.URL = s.addresses.URL(a.object)
	return err
}

// references are what keeps an asset from being deleted.
var references = []dependents.Query{
	{Type: "app", SQL: "SELECT id FROM app WHERE logo_asset_id = ?"},
	{Type: "link", SQL: "SELECT id FROM link WHERE image_asset_id = ?"},
	{Type: "qr_code", SQL: "SELECT id FROM qr_code WHERE logo_asset_id = ?"},
	{Type: "template_draft", SQL: "SELECT id FROM template WHERE draft_logo = ?"},
	{Type: "template_version", SQL: "SELECT template_id || '@' || version AS id FROM template_version WHERE logo = ?"},
}

// reserveRemoval marks an asset as going. It keeps its revision: the client
// that repeats the removal knows no other.
func (s *service) reserveRemoval(ctx context.Context, tx *store.Tx, c *op.Call, id string) (Asset, error) {
	a, err := s.load(ctx, tx, id)
	if err == nil && c.Stale(a.Revision) {
		err = fault.Stale()
	}
	if err != nil || a.State == deleting {
		return a, err
	}
	if err := dependents.Refuse(ctx, tx, a.ID, references...); err != nil {
		return a, err
	}
	_, err = tx.Exec(ctx, "UPDATE asset SET state = 'deleting', updated_at = ? WHERE id = ?", tx.Now, a.ID)
	return a, err
}
