package page

import (
	"github.com/waymarkhq/waymark/internal/binding"
)

// Template is a design that is ready to be rendered. It is never changed, and may
// be used by many at once.
type Template struct {
	base   binding.Base
	config Config
	logo   string
}

// Compile makes a Template of a design that Check found to be right. logo is the
// image of its logoAssetId as a data URI, "" for none.
func Compile(base binding.Base, config Config, logo string) *Template {
	return &Template{base: base, config: config, logo: logo}
}

// official are the templates that come with the product.
var official = map[binding.Base]*Template{
	binding.Android: Compile(binding.Android, Config{}, ""), binding.IOS: Compile(binding.IOS, Config{}, ""),
	binding.Recovery: Compile(binding.Recovery, Config{}, ""),
}

// Official returns the template that comes with the product.
func Official(base binding.Base) *Template { return official[base] }

// Bytes estimates the memory that a template takes.
func (t *Template) Bytes() int { return 4096 + len(t.logo) }
