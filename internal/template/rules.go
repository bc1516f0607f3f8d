package template

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// atConfig and atData are where bodies have a configuration and values of
// variables.
const (
	atConfig = "/config"
	atData   = "/data"
	atLogo   = atConfig + "/appearance/logoAssetId"
)

// checkDraft adds what keeps a configuration from being saved or rendered, and
// returns its logo as pages carry it: nil for none, or for one that is still being
// made.
func checkDraft(ctx context.Context, q store.Q, p *fault.Problems, appID string, base binding.Base,
	config page.Config) (logo *string, err error) {
	p.Include(atConfig, page.Check(base, config)...)
	id := logoOf(config)
	if id == nil {
		return nil, nil
	}
	logo, err = asset.Icon(ctx, q, appID, *id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.Keep(fault.UnknownReference(atLogo))
		return nil, nil
	case err == nil && logo != nil && *logo == "":
		p.Add(atLogo, fault.ReasonTooLarge, "the image is too large to be made a logo; upload a smaller one, such as "+
			"512 by 512 pixels")
	}
	return logo, err
}

// checkVersion adds what keeps a configuration from becoming a version: all that
// checkDraft adds, and colours that cannot be read.
func checkVersion(ctx context.Context, q store.Q, p *fault.Problems, appID string, base binding.Base,
	config page.Config) (logo *string, err error) {
	logo, err = checkDraft(ctx, q, p, appID, base, config)
	p.Include(atConfig, page.CheckContrast(base, config)...)
	return logo, err
}
