package asset

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"

	"github.com/waymarkhq/waymark/internal/asset/imagecheck"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// iconSizes are tried one after the other. An icon of the last one is always small
// enough: its pixels alone take 4 KiB.
var iconSizes = [...]int{imagecheck.MaxThumbnail, 80, 64, 48, 32}

// iconOf returns an image as pages carry it: a data URI of at most
// page.MaxLogoBytes; "" for an image without thumbnail. What is transparent stays
// so.
func iconOf(thumbnail *image.NRGBA) string {
	if thumbnail == nil {
		return ""
	}
	for _, longest := range iconSizes {
		small := thumbnail
		if size := imagecheck.Fit(thumbnail.Rect.Size(), longest); size != thumbnail.Rect.Size() {
			small = image.NewNRGBA(image.Rectangle{Max: size})
			draw.BiLinear.Scale(small, small.Rect, thumbnail, thumbnail.Rect, draw.Src, nil)
		}
		var b bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		if encoder.Encode(&b, small) == nil {
			if icon := dataURI("image/png", b.Bytes()); len(icon) <= page.MaxLogoBytes {
				return icon
			}
		}
		b.Reset()
		if small.Opaque() && jpeg.Encode(&b, small, &jpeg.Options{Quality: 85}) == nil {
			if icon := dataURI("image/jpeg", b.Bytes()); len(icon) <= page.MaxLogoBytes {
				return icon
			}
		}
	}
	return ""
}

func dataURI(contentType string, content []byte) string {
	return "data:" + contentType + ";base64," + base64.StdEncoding.EncodeToString(content)
}

// Icon returns an active asset of an app as pages carry it, a data URI: nil before
// it is made, "" when the image is too large for that. The error of an app that has
// no such asset is store.ErrNotFound.
func Icon(ctx context.Context, q store.Q, appID, id string) (icon *string, err error) {
	defer fault.Wrap(&err, "asset.Icon(%s, %s)", appID, id)
	return store.One(ctx, q, store.Value[*string], `SELECT icon FROM asset WHERE id = ? AND app_id = ?
		AND state = 'active'`, id, appID)
}

// iconsAtOnce bounds how many images a run of makeIcons reads.
const iconsAtOnce = 100

// makeIcons makes the icons of images that were uploaded before there were any, of
// at most limit of them. An image that cannot be read stays for the next run.
func makeIcons(ctx context.Context, db *store.DB, blobs blob.Store, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "asset.makeIcons")
	type iconless struct{ id, object, contentType string }
	all, err := store.All(ctx, db, func(r store.Row) (i iconless, err error) {
		err = r.Scan(&i.id, &i.object, &i.contentType)
		return i, err
	}, "SELECT id, object, content_type FROM asset WHERE icon IS NULL AND state = 'active' ORDER BY id LIMIT ?",
		min(limit, iconsAtOnce))
	if err != nil {
		return 0, err
	}
	for _, i := range all {
		icon, failed := readIcon(ctx, blobs, i.object, i.contentType)
		if failed == nil {
			failed = setIcon(ctx, db, i.id, icon)
		}
		if failed != nil {
			err = errors.Join(err, failed)
		} else {
			n++
		}
	}
	return n, err
}

// readIcon makes the icon of a stored image; "" for one whose bytes are gone.
func readIcon(ctx context.Context, blobs blob.Store, object, contentType string) (string, error) {
	file, err := blobs.Open(ctx, object)
	if errors.Is(err, blob.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, imagecheck.MaxSize+1))
	if err != nil {
		return "", err
	}
	found, err := imagecheck.Check(bytes.NewReader(content), int64(len(content)), contentType)
	if refused := (*imagecheck.Error)(nil); errors.As(err, &refused) {
		return "", nil
	}
	return iconOf(found.Thumbnail), err
}

// setIcon stores the icon of an image, and has the hostnames of an app that has it as
// its logo published with it.
func setIcon(ctx context.Context, db *store.DB, id, icon string) error {
	return db.InTx(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE asset SET icon = ? WHERE id = ? AND icon IS NULL", icon, id); err != nil {
			return err
		}
		apps, err := store.All(ctx, tx, store.Value[string], "SELECT id FROM app WHERE logo_asset_id = ?", id)
		for _, appID := range apps {
			if err := domain.AppChanged(ctx, tx, appID, false); err != nil {
				return err
			}
		}
		return err
	})
}
