package app

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Templates are the page templates that an app chose for its links (completions.md
// §4, Template defaults).
type Templates struct {
	id, revision string
	bindings     binding.Bindings
}

// LoadTemplates returns what an app chose, or the refusal of a missing app.
func LoadTemplates(ctx context.Context, q store.Q, id string) (_ *Templates, err error) {
	defer fault.Wrap(&err, "app.LoadTemplates(%s)", id)
	t := &Templates{id: id}
	_, err = op.Found(store.One(ctx, q, func(r store.Row) (_ struct{}, err error) {
		var text *string
		if err = r.Scan(&t.revision, &text); err == nil {
			err = t.bindings.SetColumn(text)
		}
		return struct{}{}, err
	}, "SELECT revision, template_defaults FROM app WHERE id = ?", id))
	return t, err
}

// Ref names the app.
func (t *Templates) Ref() op.Ref { return App{ID: t.id, Revision: t.revision}.Ref() }

// Bindings are what the app chose. Save stores a change of them.
func (t *Templates) Bindings() *binding.Bindings { return &t.bindings }

// Check refuses nothing: any app can be changed.
func (t *Templates) Check(context.Context, store.Q) error { return nil }

// Save stores what was chosen under a new revision of the app, and has its domains
// published again.
func (t *Templates) Save(ctx context.Context, tx *store.Tx) (err error) {
	defer fault.Wrap(&err, "app.Templates.Save(%s)", t.id)
	text, err := t.bindings.Column()
	if err != nil {
		return err
	}
	t.revision = ids.Revision()
	if _, err := tx.Exec(ctx, "UPDATE app SET template_defaults = ?, revision = ?, updated_at = ? WHERE id = ?", text,
		t.revision, tx.Now, t.id); err != nil {
		return err
	}
	return domain.AppChanged(ctx, tx, t.id, false)
}
