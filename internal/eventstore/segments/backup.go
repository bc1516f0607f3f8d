package segments

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// heldName is the name of the installation's value that says until when no file is
// deleted, because a backup copies them.
const heldName = "event_files_held_until"

// Hold keeps the files of segments, also of those that leave the manifest, until an
// instant.
func Hold(ctx context.Context, db *store.DB, until clock.Instant) error {
	return store.SetInstallationValue(ctx, db, heldName, held(until))
}

// held is an instant as a text that is ordered as instants are.
func held(at clock.Instant) string { return fmt.Sprintf("%019d", int64(at)) }

// Files returns the names of the files that the manifest names.
func Files(ctx context.Context, q store.Q) ([]string, error) {
	return store.All(ctx, q, func(r store.Row) (string, error) {
		id, err := store.Value[string](r)
		return fileName(id), err
	}, "SELECT id FROM event_segment WHERE data IS NULL ORDER BY id")
}
