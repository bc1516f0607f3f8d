package page

import (
	"github.com/waymarkhq/waymark/internal/binding"
)

// Template is a design that is ready to be rendered. It is never changed, and may
// be used by many at once.
type Template struct {
	base  binding.Base
	looks map[Scheme]look
	logo  string

	heading, text phrase
	labels        labels
	details       []detail
	variables     map[string]variable
}

// labels are the owner's words on buttons.
type labels struct{ open, install, web, copy phrase }

type detail struct{ label, value phrase }

// Compile makes a Template of a design that Check found to be right. logo is the
// image of its logoAssetId as a data URI, "" for none.
func Compile(base binding.Base, config Config, logo string) *Template {
	content := config.Content.Value
	label := func(action string) phrase { return parse(string(content.ActionLabels.Value[action])) }
	t := &Template{
		base: base, looks: looksOf(base, config.Appearance.Value), logo: logo,
		heading: parse(string(content.Heading.Value)), text: parse(string(content.SupportingText.Value)),
		labels:    labels{label("open"), label("install"), label("web"), label("copy")},
		variables: map[string]variable{},
	}
	for _, d := range content.Details.Value {
		t.details = append(t.details, detail{parse(string(d.Label)), parse(string(d.Value))})
	}
	for _, v := range config.Variables.Value {
		known := variable{boolean: v.Type.Value == booleanType}
		if v.DefaultValue.Set {
			known.byDefault = shown(v.DefaultValue.Value.Value)
		}
		t.variables[v.Key] = known
	}
	return t
}

// official are the templates that come with the product.
var official = func() map[binding.Base]*Template {
	all := map[binding.Base]*Template{}
	for _, base := range binding.Bases {
		all[base] = Compile(base, Config{}, "")
	}
	return all
}()

// Official returns the template that comes with the product.
func Official(base binding.Base) *Template { return official[base] }

// Bytes estimates the memory that a template takes.
func (t *Template) Bytes() int {
	n := 1024 + len(t.logo)
	for _, l := range t.looks {
		n += 128 + len(l.meta) + len(l.variables)
	}
	for key, v := range t.variables {
		n += 128 + len(key) + len(v.byDefault)
	}
	add := func(p phrase) {
		for _, part := range p {
			n += 32 + len(part.text)
		}
	}
	for _, p := range [...]phrase{t.heading, t.text, t.labels.open, t.labels.install, t.labels.web, t.labels.copy} {
		add(p)
	}
	for _, d := range t.details {
		add(d.label)
		add(d.value)
	}
	return n
}
