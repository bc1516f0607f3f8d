package page

import (
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
)

// Check returns what is wrong with a configuration of a template, besides the
// rules of its schema and besides colours, which CheckContrast checks. Paths are
// relative to the configuration.
func Check(base binding.Base, config Config) []fault.Detail { return nil }

// CheckContrast returns the colours of a configuration that cannot be read well
// enough (WCAG 2, level AA), each with the reason low_contrast. Paths are relative
// to the configuration. A draft may have such colours, a version may not.
func CheckContrast(base binding.Base, config Config) []fault.Detail { return nil }

// Canonical returns a configuration as canonical JSON, over which its size and its
// digest are computed: the same configuration gives the same bytes.
func (c Config) Canonical() []byte { return nil }
