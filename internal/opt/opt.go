// Package opt holds what fields of requests need besides Go's own types: Opt, a
// field that may be absent; Null, a field that may also be null; and Object, a
// JSON object that is kept as it was sent. All describe themselves in the
// contract.
package opt

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/schema"
)

// Opt is a field that may be absent but not null. Tag it `json:"x,omitzero"`.
type Opt[T any] struct {
	Value T
	Set   bool
}

// OptOf returns a present field.
func OptOf[T any](v T) Opt[T] { return Opt[T]{Value: v, Set: true} }

// Or returns the value, or d when the field is absent.
func (o Opt[T]) Or(d T) T {
	if o.Set {
		return o.Value
	}
	return d
}

// Ptr returns the value, or nil when the field is absent.
func (o Opt[T]) Ptr() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// IsZero reports absence, for omitzero.
func (o Opt[T]) IsZero() bool { return !o.Set }

// UnmarshalJSONFrom reads a present field, with the options of its decoder.
func (o *Opt[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set = true
	return json.UnmarshalDecode(d, &o.Value)
}

// MarshalJSONTo writes the value, with the options of its encoder.
func (o Opt[T]) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, &o.Value) }

// Schema describes the field in the contract.
func (o Opt[T]) Schema(r *schema.Registry) *schema.Schema { return r.For(reflect.TypeFor[T]()) }

// Null is a field that may be absent or null. Tag it `json:"x,omitzero"` in
// requests; without omitzero (in answers) an absent one is written as null.
type Null[T any] struct {
	Value T
	Set   bool // present in the request, with a value or null
	Valid bool // present with a value
}

// NullOf returns a field with a value.
func NullOf[T any](v T) Null[T] { return Null[T]{Value: v, Set: true, Valid: true} }

// Ptr returns the value, or nil when the field is null or absent.
func (n Null[T]) Ptr() *T {
	if !n.Valid {
		return nil
	}
	return &n.Value
}

// Apply puts the field into dst when it was present.
func (n Null[T]) Apply(dst **T) {
	if n.Set {
		*dst = n.Ptr()
	}
}

// IsZero reports absence, for omitzero.
func (n Null[T]) IsZero() bool { return !n.Set }

// UnmarshalJSONFrom reads a present field, with the options of its decoder.
func (n *Null[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	n.Set, n.Valid = true, d.PeekKind() != 'n'
	if !n.Valid {
		var zero T
		n.Value = zero
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, &n.Value)
}

// MarshalJSONTo writes the value or null, with the options of its encoder.
func (n Null[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if !n.Valid {
		return e.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(e, &n.Value)
}

// Column returns the value as JSON text for a column of a table, or nil.
func (n Null[T]) Column() (any, error) {
	if !n.Valid {
		return nil, nil
	}
	text, err := json.Marshal(n.Value)
	return string(text), err
}

// SetColumn reads what Column wrote.
func (n *Null[T]) SetColumn(text *string) error {
	if text == nil {
		return nil
	}
	return json.Unmarshal([]byte(*text), n)
}

// Schema describes the field in the contract.
func (n Null[T]) Schema(r *schema.Registry) *schema.Schema { return r.For(reflect.TypeFor[*T]()) }

// Into puts a text into dst when it was present; dst holds it without the rule
// of its type.
func Into[T ~string](n Null[T], dst **string) {
	if !n.Set {
		return
	}
	*dst = nil
	if n.Valid {
		text := string(n.Value)
		*dst = &text
	}
}

// Text returns a text that may be absent, "" for none.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TextPtr returns nil for "", as Text does the other way round.
func TextPtr(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
