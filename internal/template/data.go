package template

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// CheckData returns what is wrong with the values that a link gives to the variables
// of its templates; paths are relative to data. own is what the link chose; inherited
// returns what its domain and its app chose, and is called only if there are values.
// A value must fit each version in force that has its variable. What a version
// requires must be given only by a link that chose the version itself.
func CheckData(ctx context.Context, q store.Q, data opt.Object, own *binding.Selections,
	inherited func() ([]*binding.Selections, error)) (found []fault.Detail, err error) {
	defer fault.Wrap(&err, "template.CheckData")
	scopes := []*binding.Selections{own}
	if string(data.Value) != "{}" {
		wider, err := inherited()
		if err != nil {
			return nil, err
		}
		scopes = append(scopes, wider...)
	}
	type inForce struct {
		config page.Config
		own    bool
	}
	var all []inForce
	for _, base := range binding.Bases {
		choice := binding.Resolve(base, scopes...)
		if choice.Mode != binding.Custom {
			continue
		}
		v, err := FindVersion(ctx, q, *choice.TemplateID, *choice.Version)
		if err != nil {
			return nil, err
		}
		all = append(all, inForce{v.Config, binding.Resolve(base, own).Mode == binding.Custom})
	}
	if len(all) == 0 {
		return page.CheckData(page.Config{}, data.Value), nil
	}
	unknown := map[string]int{} // how many versions do not have a variable
	for _, v := range all {
		for _, d := range page.CheckData(v.config, data.Value) {
			switch d.Code {
			case fault.ReasonRequired:
				if !v.own {
					continue
				}
			case fault.ReasonUnknownField:
				if unknown[d.Path]++; unknown[d.Path] < len(all) {
					continue
				}
			}
			if !slices.Contains(found, d) {
				found = append(found, d)
			}
		}
	}
	return found, nil
}
