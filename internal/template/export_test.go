package template

import "github.com/waymarkhq/waymark/internal/op"

// SelectChoices is selectChoices.
func SelectChoices(appID string, w op.Window) (string, []any) { return selectChoices(appID, w) }
