// Package utm is the set of campaign parameters that links, routing rules, tags
// and campaigns have in common (completions.md §3, UtmParameters). What a visit
// makes of them is package route's.
package utm

import "github.com/waymarkhq/waymark/internal/opt"

// UTM are campaign parameters, added to destinations that do not carry them.
type UTM struct {
	Source   *string `json:"source"`
	Medium   *string `json:"medium"`
	Campaign *string `json:"campaign"`
	Term     *string `json:"term"`
	Content  *string `json:"content"`
}

// SetUTM changes the members sent and keeps the others.
type SetUTM struct {
	Source   opt.Null[string] `json:"source,omitzero" minLength:"1" maxLength:"255"`
	Medium   opt.Null[string] `json:"medium,omitzero" minLength:"1" maxLength:"255"`
	Campaign opt.Null[string] `json:"campaign,omitzero" minLength:"1" maxLength:"255"`
	Term     opt.Null[string] `json:"term,omitzero" minLength:"1" maxLength:"255"`
	Content  opt.Null[string] `json:"content,omitzero" minLength:"1" maxLength:"255"`
}

// Apply puts the members that were sent into u.
func (s *SetUTM) Apply(u *UTM) {
	s.Source.Apply(&u.Source)
	s.Medium.Apply(&u.Medium)
	s.Campaign.Apply(&u.Campaign)
	s.Term.Apply(&u.Term)
	s.Content.Apply(&u.Content)
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
