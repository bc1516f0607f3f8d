package template

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Holder is an app, a domain or a link with the templates that it chose.
type Holder interface {
	// Ref names the holder, under its present revision.
	Ref() op.Ref
	// Bindings are what it chose. Save stores a change of them.
	Bindings() *binding.Bindings
	// Check returns the refusal to store what was chosen, nil for none.
	Check(ctx context.Context, q store.Q) error
	// Save stores what was chosen under a new revision, and has published what
	// follows from it. The versions are available by then.
	Save(ctx context.Context, tx *store.Tx) error
}

// Replace replaces what a holder chose by what a client sent, under the revision that
// the client knows. What is wrong with it is told under path.
func Replace(ctx context.Context, c *op.Call, tx *store.Tx, h Holder, path string, sent *binding.SetSelections) error {
	if c.Stale(h.Ref().Revision) {
		return fault.Stale()
	}
	var p fault.Problems
	if err := Choose(ctx, tx, &p, path, c.AppID, sent.Whole(), h.Bindings()); err != nil {
		return err
	}
	if err := p.Refusal(); err != nil {
		return err
	}
	return Change(ctx, tx, h)
}

// Change stores what a holder chose, as part of tx, unless the holder refuses it.
func Change(ctx context.Context, tx *store.Tx, h Holder) error {
	if err := h.Check(ctx, tx); err != nil {
		return err
	}
	if err := Provide(ctx, tx, h.Ref().AppID, &h.Bindings().Selections); err != nil {
		return err
	}
	return h.Save(ctx, tx)
}
