package domain

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// Templates are the page templates that a domain chose for its links
// (completions.md §4, Template defaults).
type Templates struct{ domain Domain }

// LoadTemplates returns what a domain chose, or the refusal of a missing domain.
func LoadTemplates(ctx context.Context, q store.Q, id string) (_ *Templates, err error) {
	defer fault.Wrap(&err, "domain.LoadTemplates(%s)", id)
	d, err := load(ctx, q, id)
	return &Templates{d}, err
}

// Ref names the domain.
func (t *Templates) Ref() op.Ref { return t.domain.ref() }

// Bindings are what the domain chose. Save stores a change of them.
func (t *Templates) Bindings() *binding.Bindings { return &t.domain.templates }

// Check refuses a domain that is being removed.
func (t *Templates) Check(context.Context, store.Q) error {
	if reason := t.domain.gone(); reason != "" {
		return fault.New(fault.ResourceConflict, "%s", reason)
	}
	return nil
}

// Save stores what was chosen and has the domain published under a new revision.
func (t *Templates) Save(ctx context.Context, tx *store.Tx) error {
	return t.domain.configure(ctx, tx, "template_defaults", &t.domain.templates)
}

// AppOf implements op.AppFinder.
func AppOf(ctx context.Context, q store.Q, id string) (_ string, err error) {
	defer fault.Wrap(&err, "domain.AppOf(%s)", id)
	return appOf(ctx, q, id)
}

// Inherited returns the choices that the links of an app on a hostname take over:
// those of the domain, then those of the app; none without such a domain.
func Inherited(ctx context.Context, q store.Q, appID, hostname string) (scopes []*binding.Selections, err error) {
	defer fault.Wrap(&err, "domain.Inherited(%s, %q)", appID, hostname)
	_, err = store.All(ctx, q, func(r store.Row) (_ struct{}, err error) {
		var texts [2]*string
		if err = r.Scan(&texts[0], &texts[1]); err != nil {
			return struct{}{}, err
		}
		for _, text := range texts {
			var b binding.Bindings
			if err = b.SetColumn(text); err != nil {
				return struct{}{}, err
			}
			scopes = append(scopes, &b.Selections)
		}
		return struct{}{}, nil
	}, `SELECT domain.template_defaults, app.template_defaults FROM domain JOIN app ON app.id = domain.app_id
		WHERE hostname = ? AND app_id = ? AND `+held, hostname, appID)
	return scopes, err
}
