package schema_test

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/schema"
)

type TagCreate struct {
	Name  string `json:"name" minLength:"1" maxLength:"10" doc:"What people see."`
	Color string `json:"color,omitzero" enum:"red,green" aliases:"colour"`
}

// The rules of a field stand in its tags. They are part of the contract, and what a
// client sends is checked by them.
func ExampleRegistry() {
	r := schema.ForRequests()
	s := r.For(reflect.TypeFor[TagCreate]())
	var sent any
	if err := json.Unmarshal([]byte(`{"name": "a name that is too long", "colour": "red"}`), &sent); err != nil {
		fmt.Println(err)
	}
	for _, d := range s.Check(sent, "") {
		fmt.Println(d.Path, d.Code, d.Message)
	}
	// Output:
	// /name too_long must have at most 10 characters
	// /colour unknown_field the field is unknown; did you mean color?
}
