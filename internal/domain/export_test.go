package domain

import (
	"context"

	"github.com/waymarkhq/waymark/internal/store"
)

// HostZone is hostZone of a stored domain.
func HostZone(ctx context.Context, o Options, db *store.DB, id string) (problem string, err error) {
	d, err := find(ctx, db, id)
	if err != nil {
		return "", err
	}
	return o.hostZone(ctx, db, &d)
}

// Publish is publish.
func Publish(ctx context.Context, tx *store.Tx, id string) error { return publish(ctx, tx, id) }

// MarkIssuing is markIssuing.
func MarkIssuing(ctx context.Context, tx *store.Tx, id string) error { return markIssuing(ctx, tx, id) }

// Prove is prove of a stored domain.
func Prove(ctx context.Context, tx *store.Tx, id string) (lost bool, err error) {
	d, err := find(ctx, tx, id)
	if err != nil {
		return false, err
	}
	return d.prove(ctx, tx)
}
