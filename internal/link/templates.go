package link

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

func (l *Link) bindings() binding.Bindings {
	return binding.Bindings{Selections: l.TemplateSelection, Revisions: l.bindingRevisions}
}

func (l *Link) setBindings(b binding.Bindings) {
	l.TemplateSelection, l.bindingRevisions = b.Selections, b.Revisions
}

// renewBindings gives a copy of a link bindings of its own.
func (l *Link) renewBindings() {
	var own binding.Bindings
	for _, base := range binding.Bases {
		own.Choose(base, *l.TemplateSelection.Of(base))
	}
	l.setBindings(own)
}

// applyTemplates puts the templates that were sent, and the values of their
// variables, into l and collects what is wrong with them.
func (s *Service) applyTemplates(ctx context.Context, q store.Q, p *fault.Problems, c *Content, l *Link) error {
	if !c.TemplateSelection.Set && !c.TemplateData.Set {
		return nil
	}
	var wrong fault.Problems
	b := l.bindings()
	if err := template.Choose(ctx, q, &wrong, "/templateSelection", l.AppID, &c.TemplateSelection.Value,
		&b); err != nil {
		return err
	}
	l.setBindings(b)
	if c.TemplateData.Set {
		l.TemplateData = c.TemplateData.Value
	}
	if wrong.Any() { // data cannot fit what is not known
		p.Keep(wrong.Refusal())
		return nil
	}
	found, err := l.checkData(ctx, q, c.TemplateData.Set)
	p.Include("/templateData", found...)
	return err
}

// checkData returns why the values of a link do not fit its templates. Variables that
// no template has matter only for values that were sent: what was right once may
// stay.
func (l *Link) checkData(ctx context.Context, q store.Q, sent bool) (wrong []fault.Detail, err error) {
	found, err := template.CheckData(ctx, q, l.TemplateData, &l.TemplateSelection, func() ([]*binding.Selections, error) {
		return domain.Inherited(ctx, q, l.AppID, l.Domain)
	})
	for _, d := range found {
		if sent || d.Code != fault.ReasonUnknownField {
			wrong = append(wrong, d)
		}
	}
	return wrong, err
}

// keepTemplates makes the versions that a link chose available to the redirector, and
// indexes them; before are those that are indexed already.
func keepTemplates(ctx context.Context, tx *store.Tx, l *Link, before *binding.Selections) error {
	if err := template.Provide(ctx, tx, l.AppID, &l.TemplateSelection); err != nil {
		return err
	}
	return l.indexTemplates(ctx, tx, before)
}

// indexTemplates has table link_template name the templates that a link chose; before
// are those that it names already.
func (l *Link) indexTemplates(ctx context.Context, tx *store.Tx, before *binding.Selections) error {
	if len(before.TemplateIDs()) > 0 {
		if err := tx.Send(ctx, "DELETE FROM link_template WHERE link_id = ?", l.ID); err != nil {
			return err
		}
	}
	for _, id := range l.TemplateSelection.TemplateIDs() {
		if err := tx.Send(ctx, "INSERT INTO link_template (template_id, link_id) VALUES (?, ?)", id,
			l.ID); err != nil {
			return err
		}
	}
	return nil
}

// Templates are the page templates that a link chose: a template.Holder.
type Templates struct {
	link     Link
	bindings binding.Bindings
}

// Templates returns what a link of the call's app chose, or the refusal of a missing
// one.
func (s *Service) Templates(ctx context.Context, q store.Q, c *op.Call, id string) (_ *Templates, err error) {
	defer fault.Wrap(&err, "link.Templates(%s)", id)
	l, err := s.load(ctx, q, c, id)
	if err == nil && l.AppID != c.AppID {
		err = fault.Missing()
	}
	return &Templates{l, l.bindings()}, err
}

// Ref names the link.
func (t *Templates) Ref() op.Ref { return t.link.ref() }

// Bindings are what the link chose. Save stores a change of them.
func (t *Templates) Bindings() *binding.Bindings { return &t.bindings }

// Check refuses templates that the link's values do not fit.
func (t *Templates) Check(ctx context.Context, q store.Q) (err error) {
	defer fault.Wrap(&err, "link.Templates.Check(%s)", t.link.ID)
	l := t.link
	l.setBindings(t.bindings)
	wrong, err := l.checkData(ctx, q, false)
	if err == nil && len(wrong) > 0 {
		err = fault.New(fault.ResourceConflict, "The templateData of the link does not fit the template: %s %s. Set both "+
			"together, with PATCH /links/{linkId}.", wrong[0].Path, wrong[0].Message)
	}
	return err
}

// Save stores what was chosen under a new revision of the link, with its history,
// event and publication.
func (t *Templates) Save(ctx context.Context, tx *store.Tx) (err error) {
	defer fault.Wrap(&err, "link.Templates.Save(%s)", t.link.ID)
	l := &t.link
	before := l.TemplateSelection
	l.setBindings(t.bindings)
	text, err := t.bindings.Column()
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE link SET template_selection = ? WHERE id = ?", text, l.ID); err != nil {
		return err
	}
	if err := l.indexTemplates(ctx, tx, &before); err != nil {
		return err
	}
	if err := touch(ctx, tx, l); err != nil {
		return err
	}
	return changed(ctx, tx, l, "template_selection_replaced", []string{"templateSelection"}, delivery.LinkUpdated)
}
