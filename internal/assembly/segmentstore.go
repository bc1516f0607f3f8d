package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
)

// storeName is the name of the value of the installation that says where the files of
// the engine segments are, as blob.Identity has it. It stays until they are cleared,
// also when another engine has become the one of the installation.
const storeName = "events_store"

// checkStore refuses another segment store than the one that has the files: with it
// reads would fail, and new files would be where the others are not.
func (e *EngineSettings) checkStore(ctx context.Context, q store.Q) error {
	recorded, err := installed(ctx, q, storeName)
	if err != nil || recorded == "" {
		return err
	}
	return e.isStore(recorded)
}

// settleStore records the segment store of an engine of a kind that has none yet, once
// it has done its work.
func (o *EngineOptions) settleStore(ctx context.Context, kind string) error {
	if kind != Segments {
		return nil
	}
	recorded, err := installed(ctx, o.DB, storeName)
	if err == nil && recorded == "" {
		err = o.tryStore(ctx)
	}
	if err != nil {
		return err
	}
	return o.recordStore(ctx, o.DB)
}

// tryStore finds out whether the segment store does its work and has the newest file
// that the manifest names.
func (o *EngineOptions) tryStore(ctx context.Context) error {
	files, err := o.openFiles(0)
	if err != nil {
		return err
	}
	if err := files.Check(ctx); err != nil {
		return fmt.Errorf("--segment-store: %w", err)
	}
	return segments.CheckNewest(ctx, o.DB, files)
}

// recordStore makes the segment store the one that has the files, if there is none yet,
// and refuses another one.
func (e *EngineSettings) recordStore(ctx context.Context, db *store.DB) error {
	asked, err := e.storeIdentity()
	if err != nil {
		return err
	}
	recorded, err := db.InstallationValue(ctx, storeName, asked)
	if err != nil {
		return err
	}
	return e.isStore(recorded)
}

func (e *EngineSettings) isStore(recorded string) error {
	asked, err := e.storeIdentity()
	if err == nil && asked != recorded {
		err = fmt.Errorf("the files of the engine segments are in the segment store %s, not in %s: name the former with "+
			"--segment-store", recorded, asked)
	}
	return err
}

func (e *EngineSettings) storeIdentity() (string, error) {
	identity, err := blob.Identity(cmp.Or(e.SegmentStore, "file"), blob.Segments(0))
	if err != nil {
		return "", fmt.Errorf("--segment-store: %w", err)
	}
	return identity, nil
}

// installed returns a value of the installation, "" for none.
func installed(ctx context.Context, q store.Q, name string) (string, error) {
	value, err := store.One(ctx, q, store.Value[string], "SELECT value FROM installation WHERE name = ?", name)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return value, err
}
