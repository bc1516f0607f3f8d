package segments

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Links implements eventstore.Engine. It opens no segment.
func (e *Engine) Links(ctx context.Context, appID string, ids []string) (map[string]clicklog.Link, error) {
	return eventstore.NewestStates(ctx, e.DB.Long(), appID, ids)
}
