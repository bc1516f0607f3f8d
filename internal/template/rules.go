package template

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// checkDesign adds what is wrong with a configuration of a template of an app.
func checkDesign(ctx context.Context, q store.Q, p *fault.Problems, appID string, base binding.Base,
	config page.Config) error {
	return nil
}
