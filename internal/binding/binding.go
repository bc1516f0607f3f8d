// Package binding describes which page templates an app, a domain or a link chose
// (completions.md §3 and §4, template defaults and template selection). A binding
// is the choice of one holder for one base template. The holders store their own
// bindings; package template checks that what is chosen exists.
package binding

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/opt"
)

// Base is a base template: which page a template is for.
type Base string

// The base templates.
const (
	Android  Base = "android"
	IOS      Base = "ios"
	Recovery Base = "recovery"
)

// Bases are all base templates, in the order of the contract.
var Bases = [...]Base{Android, IOS, Recovery}

// Mode tells where a holder takes a template from.
type Mode string

// The modes.
const (
	// Inherit takes what the next wider scope chose: link, domain, app, official.
	Inherit Mode = "inherit"
	// Official takes the template that comes with the product.
	Official Mode = "official"
	// Custom takes a version of a template of the app.
	Custom Mode = "custom"
)

// Selection is a choice for one base template; custom names a version.
type Selection struct {
	Mode       Mode    `json:"mode" enum:"inherit,official,custom"`
	TemplateID *string `json:"templateId"`
	Version    *int64  `json:"version"`
}

// SchemaName implements schema.Named.
func (Selection) SchemaName() string { return "TemplateSelection" }

// CustomOf selects a version of a template.
func CustomOf(templateID string, version int64) Selection {
	return Selection{Mode: Custom, TemplateID: &templateID, Version: &version}
}

// equal compares what is selected.
func (s Selection) equal(other Selection) bool { return s.Ref() == other.Ref() && s.Mode == other.Mode }

// OfficialRef is the Ref of an official template.
const OfficialRef = "official"

// Ref is a selection in one word, as the redirector knows it: "" for inherit,
// OfficialRef, or "<template id>@<version>".
func (s Selection) Ref() string {
	switch s.Mode {
	case Official:
		return OfficialRef
	case Custom:
		return fmt.Sprintf("%s@%d", *s.TemplateID, *s.Version)
	}
	return ""
}

// SelectionOf returns the selection that a Ref names.
func SelectionOf(ref string) Selection {
	if ref == "" {
		return Selection{Mode: Inherit}
	}
	if id, number, found := strings.Cut(ref, "@"); found {
		if version, err := strconv.ParseInt(number, 10, 64); err == nil {
			return CustomOf(id, version)
		}
	}
	return Selection{Mode: Official}
}

// Selections are the choices of a holder by base template; null is like inherit.
type Selections struct {
	Android  opt.Null[Selection] `json:"android"`
	IOS      opt.Null[Selection] `json:"ios"`
	Recovery opt.Null[Selection] `json:"recovery"`
}

// SchemaName implements schema.Named.
func (Selections) SchemaName() string { return "TemplateSelections" }

// Of returns the choice for a base template.
func (s *Selections) Of(base Base) *opt.Null[Selection] {
	switch base {
	case Android:
		return &s.Android
	case IOS:
		return &s.IOS
	default:
		return &s.Recovery
	}
}

// Revisions are those of the bindings of a holder; null until first set.
type Revisions struct {
	Android  *string `json:"android" format:"uuid"`
	IOS      *string `json:"ios" format:"uuid"`
	Recovery *string `json:"recovery" format:"uuid"`
}

// SchemaName implements schema.Named.
func (Revisions) SchemaName() string { return "TemplateBindingRevisions" }

// Of returns the revision for a base template.
func (r *Revisions) Of(base Base) **string {
	switch base {
	case Android:
		return &r.Android
	case IOS:
		return &r.IOS
	default:
		return &r.Recovery
	}
}

// Bindings are what a holder chose, with the revision of each choice.
type Bindings struct {
	Selections
	Revisions Revisions `json:"revisions"`
}

// Choose sets the choice for a base template; null takes it back. The binding gets
// a new revision if that changes it, or if it had none. Choose tells whether.
func (b *Bindings) Choose(base Base, choice opt.Null[Selection]) (changed bool) {
	now, revision := b.Selections.Of(base), b.Revisions.Of(base)
	same := now.Valid == choice.Valid && (!choice.Valid || now.Value.equal(choice.Value))
	if same && (*revision != nil || !choice.Valid) {
		return false
	}
	fresh := ids.Revision()
	*now, *revision = choice, &fresh
	return true
}

// TemplateIDs returns the templates of the custom choices, each once.
func (s *Selections) TemplateIDs() (all []string) {
	seen := map[string]bool{}
	for _, base := range Bases {
		if choice := s.Of(base); choice.Valid && choice.Value.Mode == Custom && !seen[*choice.Value.TemplateID] {
			seen[*choice.Value.TemplateID] = true
			all = append(all, *choice.Value.TemplateID)
		}
	}
	return all
}

// Resolve returns the choice that holds for a base template among those of several
// holders, the narrowest scope first; the last resort is official.
func Resolve(base Base, scopes ...*Selections) Selection {
	for _, s := range scopes {
		if choice := s.Of(base); choice.Valid && choice.Value.Mode != Inherit {
			return choice.Value
		}
	}
	return Selection{Mode: Official}
}

// Column returns the bindings as JSON for a column of the holder.
func (b *Bindings) Column() (string, error) {
	text, err := json.Marshal(b)
	return string(text), err
}

// SetColumn reads what Column wrote; nil is a holder that never chose.
func (b *Bindings) SetColumn(text *string) error {
	*b = Bindings{}
	if text == nil {
		return nil
	}
	return json.Unmarshal([]byte(*text), b)
}
