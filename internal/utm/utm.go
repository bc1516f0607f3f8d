// Package utm is the set of campaign parameters that links, routing rules, tags
// and campaigns have in common (completions.md §3, UtmParameters). What a visit
// makes of them is package route's.
package utm

import (
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/text"
)

// UTM are campaign parameters, added to destinations that do not carry them.
type UTM struct {
	Source   *string `json:"source"`
	Medium   *string `json:"medium"`
	Campaign *string `json:"campaign"`
	Term     *string `json:"term"`
	Content  *string `json:"content"`
}

// SchemaName implements schema.Named.
func (UTM) SchemaName() string { return "UtmParameters" }

// SetUTM changes the members sent and keeps the others.
type SetUTM struct {
	Source   opt.Null[text.Line] `json:"source,omitzero" maxLength:"255"`
	Medium   opt.Null[text.Line] `json:"medium,omitzero" maxLength:"255"`
	Campaign opt.Null[text.Line] `json:"campaign,omitzero" maxLength:"255"`
	Term     opt.Null[text.Line] `json:"term,omitzero" maxLength:"255"`
	Content  opt.Null[text.Line] `json:"content,omitzero" maxLength:"255"`
}

// SchemaName implements schema.Named.
func (SetUTM) SchemaName() string { return "UtmParametersInput" }

// Apply puts the members that were sent into u.
func (s *SetUTM) Apply(u *UTM) {
	opt.Into(s.Source, &u.Source)
	opt.Into(s.Medium, &u.Medium)
	opt.Into(s.Campaign, &u.Campaign)
	opt.Into(s.Term, &u.Term)
	opt.Into(s.Content, &u.Content)
}

// Values returns source, medium, campaign, term and content, "" where there is
// none.
func (u *UTM) Values() (values [5]string) {
	for i, v := range [...]*string{u.Source, u.Medium, u.Campaign, u.Term, u.Content} {
		if v != nil {
			values[i] = *v
		}
	}
	return values
}
