package binding

import (
	"github.com/waymarkhq/waymark/internal/opt"
)

// SetSelections are Selections as a client sends them. What is omitted is kept by
// a PATCH and taken back by a PUT.
type SetSelections struct {
	Android  opt.Null[SetSelection] `json:"android,omitzero"`
	IOS      opt.Null[SetSelection] `json:"ios,omitzero"`
	Recovery opt.Null[SetSelection] `json:"recovery,omitzero"`
}

// SchemaName implements schema.Named.
func (SetSelections) SchemaName() string { return "TemplateSelectionsInput" }

// Of returns what was sent for a base template.
func (s *SetSelections) Of(base Base) opt.Null[SetSelection] {
	switch base {
	case Android:
		return s.Android
	case IOS:
		return s.IOS
	default:
		return s.Recovery
	}
}

// Whole returns the choices of a PUT: what was omitted is null.
func (s SetSelections) Whole() *SetSelections {
	s.Android.Set, s.IOS.Set, s.Recovery.Set = true, true, true
	return &s
}

// SetSelection is a Selection as a client sends it.
type SetSelection struct {
	Mode       Mode             `json:"mode" enum:"inherit,official,custom"`
	TemplateID opt.Null[string] `json:"templateId,omitzero" maxLength:"100" doc:"For the mode custom."`
	Version    opt.Null[int64]  `json:"version,omitzero" minimum:"1" doc:"For the mode custom."`
}

// SchemaName implements schema.Named.
func (SetSelection) SchemaName() string { return "TemplateSelectionInput" }
