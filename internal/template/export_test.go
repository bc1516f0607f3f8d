package template

import (
	"context"

	"github.com/waymarkhq/waymark/internal/op"
)

// SelectChoices is selectChoices.
func SelectChoices(appID string, w op.Window) (string, []any) { return selectChoices(appID, w) }

// ListVersions is listVersions.
func ListVersions(ctx context.Context, c *op.Call, templateID string, w op.Window) ([]Version, error) {
	return listVersions(ctx, c, &versionsInput{templateID}, w)
}
