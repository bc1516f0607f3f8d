package text_test

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/text"
)

// A field of type Line is in its stored form as soon as it is decoded.
func ExampleLine() {
	var body struct {
		Name text.Line `json:"name"`
	}
	fmt.Println(json.Unmarshal([]byte(`{"name": "  Spring \n sale "}`), &body))
	fmt.Printf("%q\n", body.Name)
	_, err := text.CleanLine(" \t ")
	fmt.Println(err)
	// Output:
	// <nil>
	// "Spring sale"
	// the text has no visible character
}

func ExampleNearest() {
	names := []string{"desktopUrl", "playStoreUrl", "appStoreUrl"}
	fmt.Printf("%q %q\n", text.Nearest("desktop_URL", names), text.Nearest("color", names))
	// Output: "desktopUrl" ""
}

func ExampleFold() {
	fmt.Println(text.Fold("Été in ZÜRICH"))
	// Output: été in zürich
}
