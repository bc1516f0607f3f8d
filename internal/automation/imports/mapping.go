package imports

import (
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// Mapping says where the fields of the links come from. A member is named after
// a column and says which field the column gives, or after a field and says
// which value the field has.
type Mapping map[string]Source

// Source is where a field comes from: the column that names Field, or Value in
// every row that says nothing about the field.
type Source struct {
	Field string
	Value jsontext.Value // nil for a column
}

// Schema describes both forms in the contract.
func (Source) Schema(*schema.Registry) *schema.Schema {
	constant := &schema.Schema{Type: schema.Object, Closed: true,
		Properties: []schema.Property{{Name: "value", Required: true,
			Schema: &schema.Schema{Description: "A value as in createLinks."}}},
		Description: "The value of the field of this name in every row that says nothing about it."}
	return &schema.Schema{AnyOf: []*schema.Schema{
		{Type: schema.String, MaxLength: schema.Of(100), Description: "The field that the column of this name gives."},
		constant.Ready(),
	}}
}

// UnmarshalJSON reads either form.
func (s *Source) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '"' {
		return json.Unmarshal(b, &s.Field)
	}
	var constant struct {
		Value jsontext.Value `json:"value"`
	}
	err := json.Unmarshal(b, &constant)
	s.Value = constant.Value
	return err
}

// plan is a mapping applied to the columns of a content.
type plan struct {
	// fieldOf is the field that each column gives; columns without one are
	// ignored.
	fieldOf map[string]string
	// constants are the values of fields in rows that say nothing about them.
	constants map[string]jsontext.Value

	// taken names the column or the constant that gives a field.
	taken    map[string]string
	problems fault.Problems
}

// newPlan returns the plan of a content with these columns. Its problems are at
// the place that names the column. A mapping names only columns that are there
// when each row has all of them (complete).
func newPlan(names []string, mapping Mapping, complete bool) *plan {
	p := &plan{fieldOf: map[string]string{}, constants: map[string]jsontext.Value{}, taken: map[string]string{}}
	has := map[string]bool{}
	for _, name := range names {
		has[name] = true
	}
	named := false
	for _, name := range sorted(mapping) {
		source, path := mapping[name], at(name)
		if source.Value != nil {
			continue
		}
		named = true
		if !complete || has[name] {
			p.column(path, name, source.Field)
		} else if !p.problems.Any() { // the list once is enough
			p.problems.Add(path, fault.ReasonUnknownColumn, "the content has no column %s; its columns are %s",
				quote(name), quote(strings.Join(names, ", ")))
		} else {
			p.problems.Add(path, fault.ReasonUnknownColumn, "the content has no column %s", quote(name))
		}
	}
	for _, name := range names {
		if !named {
			p.column("/content", name, name)
		}
	}
	for _, name := range sorted(mapping) {
		if value := mapping[name].Value; value != nil {
			p.constant(at(name), name, value)
		}
	}
	return p
}

// at is the place of a mapping's member.
func at(name string) string { return fault.Pointer("mapping", name) }

// column has a column give a field.
func (p *plan) column(path, name, field string) {
	if p.admits(path, name, field) {
		if other, twice := p.taken[field]; twice {
			p.problems.Add(path, fault.ReasonDuplicate, "the columns %s and %s both give %s", quote(other), quote(name),
				field)
			return
		}
		p.taken[field], p.fieldOf[name] = name, field
	}
}

// constant gives a field a value where the rows do not. A column may give the
// same field.
func (p *plan) constant(path, field string, value jsontext.Value) {
	if p.admits(path, field, field) {
		p.taken[field], p.constants[field] = field, value
	}
}

// admits reports whether a column or a constant may give a field: no other one
// gives the field, a part of it, or the whole that it is a part of.
func (p *plan) admits(path, name, field string) bool {
	_, known := fields[field]
	switch {
	case field == "appId":
		p.problems.Add(path, fault.ReasonNotAllowed, "the app of all links is the appId of the request; neither a "+
			"column nor a constant can give it")
		return false
	case !known && path == "/content":
		p.problems.Add(path, fault.ReasonUnknownField, "the column %s is not named as a field; name the field of "+
			"each column in mapping", quote(name))
		return false
	case !known:
		p.problems.Add(path, fault.ReasonUnknownField, "%s is not a field that can be imported; the fields are %s",
			quote(field), strings.Join(sorted(fields), ", "))
		return false
	}
	whole, _, _ := strings.Cut(field, ".")
	for _, other := range sorted(p.taken) {
		if other != field && (whole == other || strings.HasPrefix(other, field+".")) {
			p.problems.Add(path, fault.ReasonDuplicate, "%s and %s both give %s", quote(p.taken[other]), quote(name),
				whole)
			return false
		}
	}
	return true
}

// checkConstants refuses constants that no link can have, once, instead of in
// every row.
func (s *service) checkConstants(constants map[string]jsontext.Value) error {
	if len(constants) == 0 {
		return nil
	}
	r := row{values: maps.Clone(constants)}
	r.clientID(0)
	anyDomain := "go.example.com"
	input := r.input(&anyDomain)
	_, err := s.body("app", input)
	r.problems.Keep(err)
	found, err := r.problems.Details()
	if err != nil {
		return err
	}
	var p fault.Problems
	for _, d := range found {
		for _, field := range sorted(constants) {
			rest, under := strings.CutPrefix(d.Path, place(field))
			if under && (rest == "" || rest[0] == '/') {
				p.Add(at(field)+"/value"+rest, d.Code, "%s", d.Message)
			}
		}
	}
	return p.Refusal()
}
