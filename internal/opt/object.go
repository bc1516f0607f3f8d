package opt

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/schema"
)

// maxMembers bounds an Object; its size in bytes bounds it closer.
const maxMembers = 4096

// Object is a JSON object that is kept as text, its members in the order and its
// numbers in the digits that the client wrote.
type Object struct{ jsontext.Value }

// EmptyObject returns an object without members.
func EmptyObject() Object { return Object{jsontext.Value("{}")} }

// Schema describes an Object in the contract.
func (Object) Schema(*schema.Registry) *schema.Schema {
	return &schema.Schema{Type: schema.Object, MaxProperties: schema.Of(maxMembers)}
}

// UnmarshalJSON keeps the canonical text: no white space, no escapes where none
// are needed. Bounds are counted over it.
func (o *Object) UnmarshalJSON(b []byte) error {
	o.Value = jsontext.Value(b).Clone()
	return o.Value.Format()
}
