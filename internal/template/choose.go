package template

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// Choose puts the choices that a client sent for a holder of an app into its
// bindings, and collects under path what is wrong with them; what was not sent
// stays. A holder may keep a version whose template was archived since.
func Choose(ctx context.Context, q store.Q, p *fault.Problems, path, appID string, sent *binding.SetSelections,
	b *binding.Bindings) (err error) {
	defer fault.Wrap(&err, "template.Choose(%s)", appID)
	for _, base := range binding.Bases {
		wanted := sent.Of(base)
		if !wanted.Set {
			continue
		}
		choice := opt.Null[binding.Selection]{Set: true}
		if wanted.Valid {
			var found fault.Problems
			at := fault.Pointer(string(base))
			choice, err = read(ctx, q, &found, at, appID, base, wanted.Value, *b.Selections.Of(base))
			if err != nil {
				return err
			}
			if found.Any() {
				p.KeepAt(path, found.Refusal())
				continue
			}
		}
		b.Choose(base, choice)
	}
	return nil
}

// read returns the choice that a client sent for a base template of a holder that
// has another one, and collects what is wrong with it under the path at.
func read(ctx context.Context, q store.Q, p *fault.Problems, at, appID string, base binding.Base,
	sent binding.SetSelection, before opt.Null[binding.Selection]) (opt.Null[binding.Selection], error) {
	id, version := sent.TemplateID, sent.Version
	if sent.Mode != binding.Custom {
		if id.Valid {
			p.Add(at+"/templateId", fault.ReasonNotAllowed, "the mode %s takes no templateId; use the mode custom", sent.Mode)
		}
		if version.Valid {
			p.Add(at+"/version", fault.ReasonNotAllowed, "the mode %s takes no version; use the mode custom", sent.Mode)
		}
		return opt.NullOf(binding.Selection{Mode: sent.Mode}), nil
	}
	if !id.Valid {
		p.Add(at+"/templateId", fault.ReasonRequired, "the mode custom needs the id of a template")
	}
	if !version.Valid {
		p.Add(at+"/version", fault.ReasonRequired, "the mode custom needs a version of the template")
	}
	choice := opt.NullOf(binding.Selection{Mode: binding.Custom})
	if p.Any() {
		return choice, nil
	}
	choice.Value = binding.CustomOf(id.Value, version.Value)
	if before.Valid && before.Value.Ref() == choice.Value.Ref() {
		return choice, nil
	}
	return choice, checkChoice(ctx, q, p, at, appID, base, choice.Value)
}

// checkChoice collects why a holder of an app cannot choose a version for a base
// template.
func checkChoice(ctx context.Context, q store.Q, p *fault.Problems, at, appID string, base binding.Base,
	choice binding.Selection) error {
	var its binding.Base
	var archived bool
	var versions int
	_, err := store.One(ctx, q, func(r store.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&its, &archived, &versions)
	}, `SELECT base, archived, (SELECT COUNT(*) FROM template_version v WHERE v.template_id = template.id
		AND v.version = ?) FROM template WHERE id = ? AND app_id = ?`, *choice.Version, *choice.TemplateID, appID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.Keep(fault.UnknownReference(at + "/templateId"))
		return nil
	case err != nil:
		return err
	case its != base:
		p.Add(at+"/templateId", fault.ReasonNotAllowed, "the template is for %s, not for %s", its, base)
	case archived:
		p.Add(at+"/templateId", fault.ReasonNotAllowed, "the template is archived; restore it with archived: false, or "+
			"choose another one")
	case versions == 0:
		p.Add(at+"/version", fault.ReasonUnknownReference, "the template has no version %d", *choice.Version)
	}
	return nil
}

// Provide makes the versions that were chosen in an app available to the redirector,
// as part of tx. What names them must be published after it.
func Provide(ctx context.Context, tx *store.Tx, appID string, chosen *binding.Selections) (err error) {
	defer fault.Wrap(&err, "template.Provide(%s)", appID)
	for _, base := range binding.Bases {
		choice := chosen.Of(base)
		if !choice.Valid || choice.Value.Mode != binding.Custom {
			continue
		}
		id, version := *choice.Value.TemplateID, *choice.Value.Version
		available, err := IsAvailable(ctx, tx, id, version)
		if err != nil {
			return err
		}
		if available {
			continue
		}
		if err := Project(ctx, tx, appID, id, version); err != nil {
			return err
		}
	}
	return nil
}
