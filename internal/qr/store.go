package qr

import (
	"context"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

const columns = "id, app_id, link_id, name, format, size, margin, foreground, background, error_correction, " +
	"logo_asset_id, revision, created_at, updated_at"

func scan(r store.Row) (c QRCode, err error) {
	err = r.Scan(&c.ID, &c.AppID, &c.LinkID, &c.Name, &c.Format, &c.Size, &c.Margin, &c.Foreground, &c.Background,
		&c.ErrorCorrection, &c.LogoAssetID,
		&c.Revision, &c.CreatedAt, &c.UpdatedAt)
	return c, err
}

// load returns a code, or the refusal of a missing one.
func load(ctx context.Context, q store.Q, id string) (QRCode, error) {
	return op.Found(store.One(ctx, q, scan, "SELECT "+columns+" FROM qr_code WHERE id = ?", id))
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM qr_code WHERE id = ?", id)
}

func insert(ctx context.Context, tx *store.Tx, c *QRCode) error {
	c.ID, c.Revision, c.CreatedAt, c.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	_, err := tx.Exec(ctx, "INSERT INTO qr_code ("+columns+", search) VALUES ("+store.Marks(15)+")",
		c.ID, c.AppID, c.LinkID, c.Name, c.Format, c.Size, c.Margin, c.Foreground, c.Background, c.ErrorCorrection,
		c.LogoAssetID,
		c.Revision, c.CreatedAt, c.UpdatedAt, text.Fold(c.Name))
	return err
}

func save(ctx context.Context, tx *store.Tx, c *QRCode) error {
	c.Revision, c.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, `UPDATE qr_code SET name = ?, search = ?, format = ?, size = ?, margin = ?, foreground = ?,
		background = ?, error_correction = ?,
		logo_asset_id = ?, revision = ?, updated_at = ? WHERE id = ?`,
		c.Name, text.Fold(c.Name), c.Format, c.Size, c.Margin, c.Foreground, c.Background, c.ErrorCorrection,
		c.LogoAssetID, c.Revision, c.UpdatedAt, c.ID)
	return err
}

type listInput struct {
	AppID  string `query:"appId" required:"true" maxLength:"500"`
	LinkID string `query:"linkId" maxLength:"500"`
	Q      string `query:"q" heavy:"true" maxLength:"200" doc:"Text that the name contains, ignoring case but not accents."`
}

func list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]QRCode, error) {
	var where store.Where
	where.And("app_id = ?", in.AppID)
	if in.LinkID != "" {
		where.And("link_id = ?", in.LinkID)
	}
	if in.Q != "" {
		where.And(c.DB.Dialect().Contains("search"), text.Fold(in.Q))
	}
	chosen := w.Choose("qr_code", &where, "created_at", "id", true)
	return store.All(ctx, c.DB, scan, "SELECT "+columns+" FROM qr_code"+chosen, where.Args(w.Limit)...)
}

// addressOf returns the public address of a link, as its codes have it: the
// redirector takes the mark away and counts the visit as a scan.
func (s *service) addressOf(ctx context.Context, q store.Q, linkID string) (string, error) {
	return op.Found(store.One(ctx, q, func(r store.Row) (string, error) {
		var hostname, prefix, slug string
		err := r.Scan(&hostname, &prefix, &slug)
		return s.addresses.URL(hostname, prefix, slug) + "?qr=1", err
	}, "SELECT hostname, prefix, slug FROM link WHERE id = ?", linkID))
}
