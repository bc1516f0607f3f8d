package opt_test

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/opt"
)

// In a change, an absent field stays as it is, null removes its value, and anything
// else replaces it.
func ExampleNull() {
	for _, body := range []string{`{}`, `{"title": null}`, `{"title": "new"}`} {
		old := "old"
		title := &old
		var change struct {
			Title opt.Null[string] `json:"title,omitzero"`
		}
		if err := json.Unmarshal([]byte(body), &change); err != nil {
			fmt.Println(err)
		}
		if change.Title.Apply(&title); title == nil {
			fmt.Println(body, "no title")
		} else {
			fmt.Println(body, *title)
		}
	}
	// Output:
	// {} old
	// {"title": null} no title
	// {"title": "new"} new
}

// An absent field has a default of the caller's choice.
func ExampleOpt() {
	var body struct {
		Limit opt.Opt[int] `json:"limit,omitzero"`
	}
	fmt.Println(json.Unmarshal([]byte(`{}`), &body), body.Limit.Or(20))
	fmt.Println(json.Unmarshal([]byte(`{"limit": 0}`), &body), body.Limit.Or(20))
	// Output:
	// <nil> 20
	// <nil> 0
}
