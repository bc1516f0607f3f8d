package op_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/waymarkhq/waymark/internal/op"
)

// A capability declares an operation as a row and a handler. Authorization, checks
// of the input, rate windows and the contract follow from the row and the types.
func ExampleRead() {
	type Greeting struct {
		Text string `json:"text"`
	}
	type input struct {
		Name string `path:"name" maxLength:"20"`
	}
	p := op.New(op.Options{})
	op.Read(p, op.Op{ID: "getGreetingsName", Method: "GET", Path: "/greetings/{name}", Perm: "greetings:read",
		Summary: "Get a greeting"},
		func(_ context.Context, _ *op.Call, in *input) (op.Item[Greeting], error) {
			return op.Item[Greeting]{Data: Greeting{Text: "Hello, " + in.Name}}, nil
		})
	p.Handlers(func(method, pattern string, _ http.Handler) { fmt.Println(method, pattern) })
	fmt.Println(p.KeyPermissions())
	// Output:
	// GET /v1/greetings/{name}
	// [greetings:read]
}

func ExampleLocation() {
	fmt.Println(op.Location("exports", "0b6c1f6e", "download"))
	// Output: /v1/exports/0b6c1f6e/download
}
